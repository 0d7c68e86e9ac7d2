"""One round through the service, the same for every Python binding.

A binding gives `play` one function: `ask(path, interface, member, signature, arguments)`. It returns the values of the reply, and
the earlier signals as (path, interface, member, arguments); an error reply is raised as `Refused`. A variant to send
is `V(signature, value)`; a reply holds plain values, or values equal to them.
"""
import json
from typing import Any, NamedTuple

NAME = "org.stagedoor.Interchange1"
ROOT = "/org/stagedoor/Interchange1"
APPLICATION = "org.stagedoor.Application1"
SESSION = "org.stagedoor.SceneSession1"
PROPERTIES = "org.freedesktop.DBus.Properties"
MANAGER = "org.freedesktop.DBus.ObjectManager"

CATS = "org.example.Cats"
CATS_PATH = f"{ROOT}/application/org_2eexample_2eCats"
MANIFEST = {
    "CFBundleIdentifier": CATS,
    "NSUserActivityTypes": ["viewCat"],
    "UIApplicationSceneManifest": {
        "UIApplicationSupportsMultipleScenes": True,
        "UISceneConfigurations": {"UIWindowSceneSessionRoleApplication": [{"UISceneConfigurationName": "Cat Detail"}]},
    },
}


class V(NamedTuple):
    signature: str
    value: Any


class Refused(Exception):
    """An error reply: its name and its message."""


def payload(*keys, type="viewCat", **options):
    items = [{"activities": [{"activityType": type, "targetContentIdentifier": key}]} for key in keys]
    return json.dumps({"items": items, "options": {"deadline": 3600, **options}})


def play(ask):
    events = []

    def call(member, signature="", *arguments, path=ROOT, interface=NAME):
        """The values of the reply, and the members of the signals before it."""
        values, signals = ask(path, interface, member, signature, arguments)
        events.extend((name, heard) for _, of, name, heard in signals if of == NAME)
        return values, [name for _, _, name, _ in signals]

    def is_equal(got, wanted, what):
        assert got == wanted, f"{what}: {got!r}, and not {wanted!r}"

    def is_refused(name, words, *call_arguments, **keywords):
        try:
            values, _ = call(*call_arguments, **keywords)
        except Refused as error:
            is_equal(error.args[0], name, f"the error of {call_arguments}")
            assert words in error.args[1], f"{error.args[1]!r} does not say {words!r}"
        else:
            raise AssertionError(f"{call_arguments} was answered {values}")

    is_equal(call("RegisterApplication", "s", json.dumps(MANIFEST)), ((CATS_PATH,), ["InterfacesAdded"]), "an application")

    (tom, outcome, first), heard = call("Drop", "ssa{ss}", "viewCat", "tom", {"colour": "grey"})
    is_equal((outcome, heard), ("created", ["InterfacesAdded", "Routed"]), "a drop")
    is_equal(events[-1], ("Routed", (CATS, tom, "created", "Cat Detail", "viewCat", "tom", first, 1)), "its signal")

    (again, outcome, second), heard = call("Deliver", "s", payload("tom"))
    is_equal((again, outcome), (tom, "activated"), "a document about the same cat")
    is_equal(heard, ["PropertiesChanged", "Routed"], "what it announces")

    mixed = json.loads(payload("tom", "kit", batch="bestEffort"))
    mixed["items"][1:1] = json.loads(payload("rex", type="viewDog"))["items"]
    (results,), heard = call("DeliverEach", "s", json.dumps(mixed))
    (one, _, _), wrong, (kit, _, _) = results
    is_equal([result[1] for result in results[::2]], ["activated", "created"], "the items of a batch")
    is_equal(tuple(wrong)[:2], ("/", "org.stagedoor.Error.ActivityTypeNotDeclared"), "the wrong item")
    is_equal((one, heard.count("Routed")), (tom, 2), "the sessions of a batch")

    (decision,), heard = call("Explain", "s", payload("kit"))
    decision = json.loads(decision)
    is_equal((decision["outcome"], heard), ("activated", []), "an explanation")
    assert decision["chosen"]["session"].replace("-", "_") in kit, decision

    (rows,), _ = call("ListSessions", "ssu", CATS, "", 0)
    is_equal([(row[0], row[4]) for row in rows], [(tom, "tom"), (kit, "kit")], "the sessions")

    _, heard = call(
        "Set", "ssv", SESSION, "Title", V("s", "Tom, grüßend"), path=tom, interface=PROPERTIES
    )
    is_equal(heard, ["PropertiesChanged"], "a property that is set")
    (title,), _ = call("Get", "ss", SESSION, "Title", path=tom, interface=PROPERTIES)
    is_equal(title, "Tom, grüßend", "a property")
    (every,), _ = call("GetAll", "s", SESSION, path=tom, interface=PROPERTIES)
    is_equal((every["Title"], every["Connected"], every["State"]), ("Tom, grüßend", False, "unattached"), "properties")
    is_equal(json.loads(every["UserActivity"])["activityType"], "viewCat", "what it shows")
    (managed,), _ = call("GetManagedObjects", interface=MANAGER)
    is_equal(managed.keys(), {CATS_PATH, tom, kit}, "the objects")
    is_equal(managed[tom][SESSION], every, "an object's properties")
    is_equal([tuple(row) for row in managed[CATS_PATH][APPLICATION]["Configurations"]],
             [("UIWindowSceneSessionRoleApplication", "Cat Detail", [])], "a list of structures")  # fmt: skip

    error = "org.stagedoor.Error."
    is_refused(f"{error}ActivityTypeNotDeclared", '"viewDog"', "Drop", "ssa{ss}", "viewDog", "rex", {})
    is_refused(f"{error}InvalidPayload", "activity_type: expected", "Drop", "ssa{ss}", "", "rex", {})
    is_refused("org.freedesktop.DBus.Error.PropertyReadOnly", "State", "Set", "ssv", SESSION, "State", V("s", "background"),
               path=tom, interface=PROPERTIES)  # fmt: skip

    is_equal(call("CancelDelivery", "s", second), ((), ["DeliveryFailed"]), "a delivery that is cancelled")
    (state, _), _ = call("GetDelivery", "s", second)
    is_equal(state, "cancelled", "its state")
    _, heard = call("Destroy", "s", "commit", path=kit, interface=SESSION)
    is_equal(heard, ["InterfacesRemoved", "SessionDiscarded", "DeliveryFailed"], "the end of a session")
    is_refused("org.freedesktop.DBus.Error.UnknownObject", kit, "Refresh", path=kit, interface=SESSION)

    # A late reader learns what the listener heard: the same numbers, names and arguments.
    (kept,), _ = call("EventsSince", "tu", 0, 0)
    is_equal([(number, name) for number, name, _ in kept], [(heard[-1], name) for name, heard in events], "the events")
    for (number, name, document), (_, heard) in zip(kept, events):
        told = json.loads(document)
        del told["time"]  # a signal does not say when it was sent
        is_equal(sorted(told.values()), sorted(map(str, heard[:-1])), f"what number {number}, {name}, says")
    print("the round was played")
