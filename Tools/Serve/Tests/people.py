#!/usr/bin/env python3
"""Writes the store that the page is tested with, as a document that `cambium import` reads.

Every kind of property is there, names that would do harm if they were taken for HTML, texts that are too long
for a table, and lists that have more than one page.
"""
import json
import random

FIRST = "Ada Ben Cleo Dana Emil Fay Gus Hana Ivo Jun Kit Lea Mio Nora Otto Pia Quin Rosa Sam Tia".split()
LAST = "Abel Berg Costa Dietz Ebert Falk Grau Hahn Imhof Jansen Kern Lorenz Maas Ott Peters Roth".split()
CITIES = ["Bonn", "Basel", "Graz", "Lyon", "Oslo", "Porto", "Turin", "Zürich"]
NAMES = [
    "<img src=x onerror=\"document.title='taken'\">", "</td><script>document.title='taken'</script>",
    "line one\nline two\ttab", "null", "", "日本語 é ü", "x" * 5000, "javascript:alert(1)",
]


def prop(name, kind, **more):
    return {"name": name, "type": kind} | more


CLASSES = [
    {"name": "Address", "embedded": True,
     "properties": [prop("city", "string"), prop("street", "string", optional=True)]},
    {"name": "Dog", "properties": [prop("name", "string"), prop("age", "int")]},
    {"name": "Person", "properties": [
        prop("id", "int", primaryKey=True), prop("name", "string", indexed=True), prop("age", "int"),
        prop("team", "string", optional=True), prop("friend", "object", **{"class": "Person"}),
        prop("dog", "object", **{"class": "Dog"}), prop("address", "object", **{"class": "Address"}),
        prop("active", "bool"), prop("born", "date"), prop("balance", "decimal", optional=True),
        prop("tags", "string", collection="list"),
        prop("friends", "object", collection="list", **{"class": "Person"}),
        prop("scores", "double", collection="map"), prop("extra", "any"),
        prop("photo", "data", optional=True)]},
    {"name": "Team", "properties": [
        prop("name", "string", primaryKey=True), prop("lead", "object", **{"class": "Person"}),
        prop("members", "object", collection="set", **{"class": "Person"})]},
]


def person(number, chance):
    name = NAMES[number - 3] if 3 <= number < 3 + len(NAMES) else f"{chance.choice(FIRST)} {chance.choice(LAST)}"
    friends = range(2, 300) if number == 0 else chance.sample(range(2000), chance.randint(0, 4))
    return {
        "id": number, "name": name, "age": chance.randint(18, 90),
        "team": None if number % 4 == 0 else chance.choice(["red", "green", "blue"]),
        "friend": None if number % 5 == 0 else chance.randrange(2000),
        "dog": {"$key": number % 30} if number % 3 else None,
        "address": {"city": chance.choice(CITIES), "street": None} if number % 2 else None,
        "active": number % 7 > 0, "born": f"{1940 + number % 60}-02-11T08:00:00Z",
        "balance": None if number % 6 == 0 else f"{chance.randint(-9999, 9999)}.{number % 100:02}",
        "tags": chance.sample(["new", "vip", "late", "left"], chance.randint(0, 3)),
        "friends": list(friends), "scores": {"chess": number / 4, "go": 1.5} if number % 3 == 0 else {},
        "extra": [None, number, "text", {"list": [1, "two", None]}, {"$link": {"class": "Person", "key": 1}}][number % 5],
        "photo": "iVBORw0KGgo=" if number % 9 == 0 else None,
    }


def main():
    chance = random.Random(7)
    objects = {
        "Dog": [{"$key": number, "name": f"{chance.choice(FIRST)} {number}", "age": number % 16}
                for number in range(30)],
        "Person": [person(number, chance) for number in range(2000)],
        "Team": [{"name": name, "lead": lead, "members": list(range(lead, 2000, 7))}
                 for lead, name in enumerate(["red", "green", "blue"])],
    }
    print(json.dumps({"cambium": 1, "classes": CLASSES, "objects": objects}, ensure_ascii=False))


main()
