"""How long the first hundred rows of the largest class take, from the request to the last byte of the answer.

    python3 latency.py ADDRESS [QUERY…]

Unsorted, sorted by each property, at the end of the table, and for each query sorted by each property: the
median of seven requests, in milliseconds.
"""
import http.client
import json
import statistics
import sys
import time
import urllib.parse

PLACE, TOKEN = sys.argv[1].removeprefix("http://").split("/#")
connection = http.client.HTTPConnection(PLACE)


def ask(path, **parameters):
    """The answer, and how long it took in milliseconds."""
    target = f"/api/{path}?{urllib.parse.urlencode(parameters)}"
    start = time.perf_counter()
    connection.request("GET", target, headers={"Authorization": f"Bearer {TOKEN}"})
    content = connection.getresponse().read()
    return json.loads(content), (time.perf_counter() - start) * 1000


def median(**parameters):
    return statistics.median(ask("rows", count=100, **parameters)[1] for _ in range(7))


classes = ask("store")[0]["classes"]
largest = max(classes, key=lambda entry: entry["count"])
name, count = largest["name"], largest["count"]
print(f"{name}: {count} objects")
print(f"{median(**{'class': name}):8.1f} ms  the first rows")
print(f"{median(**{'class': name, 'from': max(0, count - 100)}):8.1f} ms  the last rows")
sortable = [entry["name"] for entry in largest["properties"] if entry["kind"] == "value"]
for query in ["", *sys.argv[2:]]:
    if query:
        print(f"{median(**{'class': name, 'query': query}):8.1f} ms  {query}")
    for sort in sortable:
        time_taken = median(**{"class": name, "query": query, "sort": sort})
        print(f"{time_taken:8.1f} ms  {query + ', ' if query else ''}sorted by {sort}")
