"""Finished runs of prompts whose predictions are stored by hand, for tests without a model."""

from workbench.operations.runs import results
from workbench.prompting.spec import PromptSpec
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.text.fields import ClassScores, FromReply, Prediction


def add_prompt_run(project, name, wrong=(), silent=(), layer="class", **settings):
    """A run on dev of a layer, by default that of the sample: its answers to the documents at some
    places are wrong, or replies without a label.
    """
    settings = {"template": "{{ label }}", "model": "m", "name": name, **settings}
    spec = PromptSpec(**settings, layer=layer).to_json()
    layer = labels.layer_by_name(project.db, layer)
    about = {"task": "classify", "split": "dev"}
    with project.write():
        run = runs.add(project.db, name, "prompt", layer_id=layer.id, spec={**spec, **about})
    rows = []
    for at, item in enumerate(results.scored(project, run, "dev")):
        right = item.gold.label
        label = next(name for name in layer.names if name != right) if at in wrong else right
        shares = tuple(0.9 if name == label else 0.02 for name in layer.names)
        answer = Prediction((ClassScores(layer.names, shares),))
        if at in silent:
            answer = Prediction((FromReply("no-label"),))
        rows.append((item.document.id, item.document.text_hash, answer.to_json()))
    with project.write():
        runs.save_predictions(project.db, run.id, rows)
    evaluation = results.evaluate_stored(project, run, "dev")
    spec = {**spec, **about, "fingerprint": evaluation.fingerprint}
    result = {"n": len(rows), "seconds": 6.0}
    scores = {"dev": dict(evaluation.scores)}
    with project.write():
        return runs.update(
            project.db, run.id, status="done", spec=spec, scores=scores, result=result
        )
