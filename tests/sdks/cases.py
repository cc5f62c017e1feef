"""Payloads with something planted into them."""

import plant
from payload import takes


class Case:
    """A payload with something planted into it, and where."""

    def __init__(self, payload, where, data, attacks):
        self.payload, self.where, self.data, self.attacks = payload, where, data, attacks


def with_order(payload):
    """An order in each string in turn."""
    text = plant.Text(payload.data, payload.suffix)
    for index, document in enumerate(text.documents):
        for path, value in plant.leaves(document):
            if path[:len(payload.inside)] != payload.inside or path in payload.marks or plant.is_bytes(value):
                continue
            data = text.with_document(index, plant.changed(document, path, plant.plant(plant.ORDER), plant.escaped), plant.escaped)
            if takes(payload.accept, data):
                yield Case(payload, plant.place_name(index, path), data, [plant.ORDER])


def with_everything(payload, attacks, fields):
    """Every attack at once, three times: each string gets each attack."""
    text = plant.Text(payload.data, payload.suffix)
    for turn in range(len(attacks)):
        changed, count, used = dict(enumerate(text.documents)), turn, set()
        for index in changed:
            for path, _ in plant.leaves(text.documents[index]):
                if plant.place_name(index, path) in fields:
                    attack = attacks[count % len(attacks)]
                    changed[index] = plant.changed(changed[index], path, plant.plant(attack))
                    used.add(attack)
                    count += 1
        if used:
            yield Case(payload, f"everything, turn {turn}", text.with_documents(changed), sorted(used))


def with_trailers(payload):
    """Bytes behind the end of every PNG."""
    text = plant.Text(payload.data, payload.suffix)
    changed = {}
    for index, document in enumerate(text.documents):
        for path, value in plant.leaves(document):
            if (longer := plant.with_trailer(value)) is not None:
                changed[index] = plant.changed(changed.get(index, document), path, lambda _, longer=longer: longer)
    if changed:
        yield Case(payload, "trailers", text.with_documents(changed), [plant.TRAILER])


def with_keys(payload, fields):
    """An order as a key of every object with text in which the package lets any key through. The caller's own objects
    are not among them, nor bundles: their keys are media types."""
    text = plant.Text(payload.data, payload.suffix)
    planted = {}
    for index, document in enumerate(text.documents):
        for path in plant.objects(document):
            under = plant.place_name(index, path) + "/"
            has_text = any(where.startswith(under) for where in fields)
            is_bundle = any("/" in key for key in plant.at(document, path))
            if path[:len(payload.inside)] == payload.inside and has_text and not is_bundle:
                changed = plant.changed(planted.get(index, document), path, plant.with_key(plant.ORDER))
                if takes(payload.accept, text.with_documents({**planted, index: changed})):
                    planted[index] = changed
    if planted:
        yield Case(payload, "keys", text.with_documents(planted, plant.escaped), [plant.ORDER])
