"""Gold relations of documents, as records hold them."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.storage.connections.database import Database
from workbench.storage.schema.values import ids_in, parts_out
from workbench.text.labels import Layer
from workbench.text.relations import Relation
from workbench.text.rows import row_id
from workbench.text.spans import Span

_SPAN = '{0}.start, {0}."end", {0}_label.name, {0}.field, {0}.score, {0}.id, {0}.parts'
_STATEMENT = (
    "select r.document_id, r.layer_id, label.name, r.score, r.id,"
    f" {_SPAN.format('f')}, {_SPAN.format('t')}"
    " from relation r join layer l on l.id = r.layer_id and l.gold = r.annotator_id"
    " join label on label.id = r.label_id join span f on f.id = r.from_span"
    " join span t on t.id = r.to_span join label f_label on f_label.id = f.label_id"
    " join label t_label on t_label.id = t.label_id"
    " where r.document_id in (select value from json_each(?)) and r.layer_id in"
    " (select value from json_each(?)) order by f.start, t.start, r.id"
)


def gold_relations(
    db: Database, page: Sequence[int], chosen: Sequence[Layer]
) -> dict[int, dict[str, tuple[Relation, ...]]]:
    """Document id → layer → relations, of these documents and layers."""
    names = {row_id(layer): layer.name for layer in chosen if layer.traits.between_spans}
    if not names:
        return {}
    lists: dict[int, dict[str, list[Relation]]] = {}
    values = ids_in(page), ids_in(names)
    for id, layer, label, score, row, *ends in db.reader().execute(_STATEMENT, values).fetchall():
        from_span, to_span = (
            Span(*(*some[:6], parts_out(some[6]))) for some in (ends[:7], ends[7:])
        )
        relation = Relation(label, from_span, to_span, score, row)
        lists.setdefault(id, {}).setdefault(names[layer], []).append(relation)
    return {
        id: {name: tuple(layer_relations) for name, layer_relations in by_layer.items()}
        for id, by_layer in lists.items()
    }
