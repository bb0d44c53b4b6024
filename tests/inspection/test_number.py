"""The predicted number, as the run gives it."""

from types import SimpleNamespace

from workbench.base.registry import builtins
from workbench.inspection.number.info import PredictedNumber
from workbench.inspection.number.inspector import NumberInspector
from workbench.text.document import Document
from workbench.text.fields import Number, Prediction


def test_the_number_is_that_of_the_prediction():
    prediction = Prediction((Number(5.25),), cut=True)
    subject = SimpleNamespace(prediction=lambda _document: prediction)

    found = NumberInspector().run(subject, [Document("a", (("text", "a tram"),))], {})

    assert found == PredictedNumber(5.25, cut=True)


def test_it_is_offered_to_runs_that_predict_numbers_alone():
    assert builtins().entry("inspector", "number").options["needs"] == ["Number"]
