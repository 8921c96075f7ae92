"""What is shown, and how one moves: works with any store whose classes have links."""

import json
import urllib.parse

WIDE = (1280, 800)
PHONE = (360, 740)


def run(page, is_writable):
    page.browser.set_size(*WIDE)
    page.browser.set_dark(False)
    check_token(page)
    check_start(page)
    store = page.read("store")
    example = Example(page, store)
    check_rows(page, example)
    check_sorting(page, example)
    check_filter(page, example)
    check_refused_filter(page, example)
    check_paging(page, store)
    check_keys(page, example)
    check_links(page, example)
    check_schema(page, store)
    check_space(page, store)
    check_colours(page)
    check_names(page, example)
    check_narrow(page, example)
    if not is_writable:
        check_read_only(page, example)


class Example:
    """The class with the most properties that has links, and an object of it that links to another."""

    def __init__(self, page, store):
        for type in sorted(store["classes"], key=lambda each: -len(each["properties"])):
            if type["embedded"] or not type["count"]:
                continue
            answer = page.read("rows", **{"class": type["name"]})
            for row in answer["rows"]:
                for name, cell in zip(answer["columns"], row["cells"]):
                    if self._is_link(store, cell):
                        self._take(type, answer, row, name, cell)
                        return
        page.check(False, "the store has a class with a link that is not null")

    @staticmethod
    def _is_link(store, cell):
        return isinstance(cell, dict) and "class" in cell and not next(
            type["embedded"] for type in store["classes"] if type["name"] == cell["class"])

    def _take(self, type, answer, row, name, cell):
        self.name, self.type, self.answer = type["name"], type, answer
        self.row, self.link, self.target = row["row"], name, cell
        self.values = [each for each in type["properties"] if each["kind"] == "value"]
        numbers = [each["name"] for each in self.values if each["numeric"]]
        self.number = next((each for each in numbers if each != type["primaryKey"]), None) or (
            numbers[0] if numbers else None)
        self.text = next(
            (each["name"] for each in self.values if each["type"].startswith("String")), None)
        self.sorted = self.number or self.values[0]["name"]

    def address(self, **parameters):
        return address("class", self.name, **parameters)


def address(*names, **parameters):
    path = "#/" + "/".join(urllib.parse.quote(name, safe="") for name in names)
    return path + ("?" + urllib.parse.urlencode(parameters) if parameters else "")


def ids(answer):
    return [row["row"] for row in answer["rows"]]


def check_token(page):
    page.browser.open(page.base)
    page.wait("document.querySelector('main')?.textContent.includes('address')",
              "without a token a sentence says to open the address")
    page.browser.open(page.base + "#0123456789abcdef")
    page.wait("document.querySelector('main')?.textContent.includes('wrong')",
              "a wrong token is told")
    page.expected.add(401)


def check_start(page):
    page.browser.open(page.address)
    page.wait_for("#side a[aria-current]", "the first class is shown")
    page.check(page.token not in page.value("location.href"), "the token is out of the address")
    page.wait("document.querySelector('#live').textContent === 'live'", "the page is live")
    page.browser.reload()
    page.wait_for("#side a[aria-current]", "the page can be reloaded")


def check_rows(page, example):
    page.show(example.address())
    page.wait_for_rows(ids(example.answer), "the rows of the class appear in their order")
    heads = page.texts(".rows thead th")[1:]
    page.check(heads == example.answer["columns"], "the columns are those of the class", heads)
    total = f"{example.answer['total']:,}"
    page.check(page.text(".range").endswith(f" {total}"), "the number of objects is told")
    page.check(page.value("!document.querySelector('main :is(img, script, iframe, object)')"),
               "what is stored is shown as text")
    page.screenshot("table")


def check_sorting(page, example):
    head = f".rows th[data-name={json.dumps(example.sorted)}]"
    for direction, descending in (("ascending", "0"), ("descending", "1")):
        wanted = ids(page.read(
            "rows", **{"class": example.name}, sort=example.sorted, descending=descending))
        page.browser.click(f"{head} button")
        page.wait_for(f"{head}[aria-sort={direction}]", f"a click on a header sorts {direction}")
        page.wait_for_rows(wanted, f"the rows are {direction}")
    page.browser.evaluate(f"document.querySelector({json.dumps(head + ' button')}).focus()")
    page.browser.press("Enter")
    page.wait_for(f"{head}[aria-sort=none]", "Enter on a header ends the sorting")
    page.wait_for_rows(ids(example.answer), "the rows are in their own order again")


def check_filter(page, example):
    value = example.answer["columns"].index(example.sorted)
    cell = next(row["cells"][value] for row in example.answer["rows"] if row["cells"][value])
    literal = cell if example.number else json.dumps(cell)
    query = f"{example.sorted} == {literal}"
    wanted = page.read("rows", **{"class": example.name}, query=query)
    page.browser.press("/")
    page.check(page.value("document.activeElement.id") == "filter", "the key / moves to the filter")
    page.browser.type(query)
    page.browser.press("Enter")
    page.wait_for_rows(ids(wanted), "the filter leaves the rows that meet it")
    page.check(page.text(".range").endswith(f" {wanted['total']:,}"), "their number is told")
    page.browser.reload()
    page.wait_for_rows(ids(wanted), "the filter is in the address")
    page.browser.evaluate("history.back()")
    page.wait_for_rows(ids(example.answer), "going back takes the filter away")
    page.check(page.value("document.querySelector('#filter').value") == "", "the filter is empty again")


def check_refused_filter(page, example):
    query = f"{example.text} == 'Zoë' AND AND" if example.text else f"{example.sorted} > 1 AND AND"
    status, answer = page.refusal("rows", **{"class": example.name}, query=query)
    page.check(status == 400 and "offset" in answer, "the server tells the place", answer)
    page.expected.add(400)
    page.browser.press("/")
    page.browser.type(query)
    page.browser.press("Enter")
    page.wait_for(".error:not([hidden])", "what is wrong with the filter is told")
    page.check(page.text("#filter-error") == answer["error"], "in the server's words")
    place = page.value("""(() => {
      const input = document.querySelector('#filter'), style = getComputedStyle(input);
      const context = document.createElement('canvas').getContext('2d');
      context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
      const before = new TextDecoder().decode(new TextEncoder().encode(input.value).slice(0, OFFSET));
      const range = document.createRange();
      range.selectNode(document.querySelector('.caret').childNodes[1]);
      const caret = range.getBoundingClientRect(), box = input.getBoundingClientRect();
      return { wanted: box.left + parseFloat(style.borderLeftWidth) + parseFloat(style.paddingLeft)
          + context.measureText(before).width - input.scrollLeft,
        left: caret.left, top: caret.top, bottom: box.bottom };
    })()""".replace("OFFSET", str(answer["offset"])))
    page.check(abs(place["wanted"] - place["left"]) < 2, "the caret stands under the place", place)
    page.check(-3 < place["top"] - place["bottom"] < 12, "right below the filter", place)
    page.screenshot("error")
    page.check(page.rows() == ids(example.answer), "the earlier rows stay")

    # A server whose time limit is over.
    page.value("""(() => {
      const ask = window.fetch;
      window.fetch = (...parts) => {
        if (!String(parts[0]).includes('/api/rows')) return ask(...parts);
        window.fetch = ask;
        return Promise.resolve(new Response('{"error": "The time limit was over."}', { status: 504 }));
      };
    })()""")
    page.browser.evaluate("document.querySelector('#filter').value = ''")
    page.browser.press("Enter")
    page.wait("document.querySelector('#filter-error').textContent === 'The time limit was over.'",
              "that the time limit was over is told in place")
    page.browser.press("Enter")
    page.wait_for(".error[hidden]", "the next answer takes it away")


def check_paging(page, store):
    type = max((each for each in store["classes"] if not each["embedded"]), key=lambda each: each["count"])
    count = type["count"]
    if count <= 200:
        print("--  no class has more than two pages of rows")
        return

    def wanted(start):
        return ids(page.read("rows", **{"class": type["name"], "from": start}))

    page.show(address("class", type["name"]))
    page.wait_for_rows(wanted(0), "the largest class begins with its first rows")
    page.browser.click(".pager nav button:nth-child(3)")
    page.wait_for_rows(wanted(100), "the button leads to the next page")
    page.browser.evaluate("document.querySelector('.rows td[tabindex=\"0\"]').focus()")
    page.browser.press("PageUp")
    page.wait_for_rows(wanted(0), "the key Page Up leads back")
    page.browser.press("PageDown")
    page.wait_for_rows(wanted(100), "the key Page Down leads on")
    page.browser.click(".pager nav button:nth-child(4)")
    page.wait_for_rows(wanted((count - 1) // 100 * 100), "the last page has the last rows")
    page.browser.click("#to-row")
    page.browser.type("150")
    page.browser.press("Enter")
    page.wait_for_rows(wanted(100), "the page of a row is found by the row's number")
    page.wait("document.activeElement.closest('tr')?.querySelector('th').textContent.endsWith('150')",
              "the row has the focus")


def check_keys(page, example):
    place = ("[document.activeElement.closest('tr')?.rowIndex,"
             " document.activeElement.closest('td, th')?.cellIndex].join()")
    page.show(example.address())
    page.wait_for_rows(ids(example.answer), "the class is shown again")
    page.browser.evaluate("document.querySelector('.rows td').focus()")
    page.browser.press("/")
    page.browser.press("Escape")
    page.check(page.value(place) == "1,1", "Escape leaves the filter for the rows", page.value(place))
    for keys, wanted in ((("ArrowDown", "ArrowRight"), "2,2"), (("ArrowUp", "ArrowLeft"), "1,1"),
                         (("End",), f"1,{len(example.answer['columns'])}"), (("Home",), "1,0"),
                         (("ArrowUp",), "0,0"), (("ArrowDown",), "1,0")):
        for key in keys:
            page.browser.press(key)
        page.check(page.value(place) == wanted, f"the keys {', '.join(keys)} move", page.value(place))
    page.browser.press("Enter")
    page.wait_for(".object-view .properties tr", "Enter on a row opens the object")
    page.browser.press("Escape")
    page.wait_for(".table-view", "Escape leads back to the table")
    page.wait(f"{place} === '1,0'", "to the row that one came from")
    page.browser.press("?")
    page.check(page.value("document.querySelector('#keys').open"), "the key ? shows the keys")
    page.browser.press("Escape")


def check_links(page, example):
    source = address("object", example.name, example.row)
    page.show(example.address())
    page.wait_for_rows(ids(example.answer), "the class is shown again")
    target = address("object", example.target["class"], example.target["row"])
    page.browser.click(f".rows a[href={json.dumps(source)}]")
    page.wait_for(f".properties tr[data-name={json.dumps(example.link)}]", "an object is opened by a click")
    names = page.texts(".properties th")
    wanted = [each["name"] for each in page.read(
        "object", **{"class": example.name}, row=example.row)["properties"]]
    page.check(names == wanted, "all of its properties are shown", names)
    page.browser.set_dark(True)
    page.screenshot("object")
    page.browser.set_dark(False)
    page.browser.click(f".properties tr[data-name={json.dumps(example.link)}] a")
    page.wait(f"location.hash === {json.dumps(target)}", "a link leads to its object")
    origin = json.dumps(f"{example.name}.{example.link}")
    page.wait("[...document.querySelectorAll('.origin h3')]"
              f".some((each) => each.textContent.startsWith({origin}))",
              "the object shows who links to it")
    named = page.read("object", **{"class": example.target["class"]}, row=example.target["row"])
    sources = sum(len(each["rows"]) for each in named["backlinks"])
    links = page.value("document.querySelectorAll('.origin a[href*=\"#/object/\"]').length")
    page.check(links == sources, "with a link to each", links)
    page.browser.evaluate("history.back()")
    page.wait(f"location.hash === {json.dumps(source)}", "going back leads to the first object")
    page.show(address("object", example.name, "999999999999"))
    page.expected.add(404)
    page.wait_for(".failure:not([hidden])", "an object that is gone is told")


def check_schema(page, store):
    page.show("#/schema")
    page.wait_for(".diagram", "the schema is drawn")
    names = page.value("[...document.querySelectorAll('.box')].map((box) => box.dataset.name)")
    page.check(sorted(names) == sorted(each["name"] for each in store["classes"]),
               "with a box for each class", names)
    links = [each for type in store["classes"] for each in type["properties"]
             if each["target"] and each["kind"] != "computed"]
    lines = page.value("document.querySelectorAll('.diagram .line').length")
    page.check(lines == len(links), "and a line for each link", lines)
    page.check(page.value("""(() => {
      const boxes = [...document.querySelectorAll('.box .border')]
        .map((box) => box.getBoundingClientRect());
      return boxes.every((one, index) => boxes.slice(index + 1).every((other) => one.right <= other.left
        || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top));
    })()"""), "no box covers another")
    page.screenshot("schema")


def check_space(page, store):
    page.show("#/store")
    page.wait_for(".legend-table", "the store's space is told")
    answer = page.read("space")
    page.check(len(page.texts(".legend-table tbody tr")) == len(answer["kinds"]), "for each kind of page")
    if answer["map"]:
        # It is drawn when the page knows how wide it is.
        page.wait_for(".map path", "the map of the file is drawn")
        cells = page.value("[...document.querySelectorAll('.map path')]"
                           ".reduce((sum, path) => sum + path.getAttribute('d').split('M').length - 1, 0)")
        page.check(cells == len(answer["map"]), "with all of its cells", cells)
        page.browser.hover(".map", 4, 4)
        page.wait("/bytes [\\d,]+ to/.test(document.querySelector('.where').textContent)",
                  "the map tells what lies under the pointer")
    page.check(page.value("document.querySelector('.facts-of-store').textContent")
               .find(store["path"]) >= 0, "the path of the store is told")
    page.screenshot("space")


def check_colours(page):
    for is_dark in (False, True):
        page.browser.set_dark(is_dark)
        low = page.value("""(() => {
          const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
          const light = (name) => {
            canvas.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
            canvas.fillRect(0, 0, 1, 1);
            const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
              .map((part) => part / 255)
              .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
          };
          const contrast = (one, other) => {
            const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05);
          };
          const texts = { '--text': 4.5, '--dim': 4.5, '--accent': 4.5, '--bad': 4.5, '--line-strong': 3 };
          const pairs = Object.keys(texts).flatMap((text) => ['--ground', '--side', '--raised']
            .map((ground) => [text, ground, texts[text]]));
          pairs.push(['--on-accent', '--accent', 4.5], ['--accent', '--accent-ground', 4.5],
            ['--text', '--changed', 4.5], ['--text', '--new', 4.5], ['--text', '--edited', 4.5],
            ['--text', '--bad-ground', 4.5], ['--bad', '--bad-ground', 4.5]);
          return pairs.filter(([text, ground, least]) => contrast(text, ground) < least)
            .map(([text, ground]) => `${text} on ${ground} ${contrast(text, ground).toFixed(2)}`);
        })()""")
        page.check(not low, f"colours have enough contrast in the {'dark' if is_dark else 'light'}", low)
    page.browser.set_dark(False)


def places(example):
    """Each view's address, with what is on it once it is shown."""
    return ((example.address(), ".rows td"),
            (address("object", example.name, example.row), ".properties tr"),
            ("#/schema", ".diagram"), ("#/store", ".legend-table"))


def check_names(page, example):
    """Whoever hears the page is told what each control is."""
    for place, sign in places(example):
        page.show(place)
        page.wait_for(sign, f"{place} is shown")
        nodes = page.browser.command("Accessibility.getFullAXTree")["nodes"]
        controls = ("button", "textbox", "combobox", "link", "searchbox", "grid", "navigation", "dialog")
        silent = [node["role"]["value"] for node in nodes if not node.get("ignored")
                  and node.get("role", {}).get("value") in controls
                  and not node.get("name", {}).get("value")]
        page.check(not silent, "every control has a name", silent)


def check_narrow(page, example):
    page.browser.set_size(*PHONE, scale=2, is_phone=True)
    for place, sign in places(example):
        page.show(place)
        page.wait_for(sign, f"{place} is shown on a phone")
        width = page.value("document.documentElement.scrollWidth")
        page.check(width <= PHONE[0], "the page is no wider than the phone", width)
    page.show(example.address())
    page.wait_for(".rows td", "the table is shown on a phone")
    page.screenshot("phone")
    page.check(page.value("getComputedStyle(document.querySelector('#side')).display") == "none",
               "the list of classes is out of the way")
    page.browser.click("#menu")
    page.check(page.value("document.querySelector('#side').getBoundingClientRect().width") > 200,
               "the menu shows it")
    page.browser.click("#side a[href='#/store']")
    page.wait_for(".store-view", "and leads to the other views")
    page.browser.set_size(*WIDE)


def check_read_only(page, example):
    page.show(example.address())
    page.wait_for(".rows td", "the table is shown again")
    page.browser.evaluate("document.querySelector('.rows td').focus()")
    page.browser.press("F2")
    seen = page.value(
        "document.querySelectorAll('.rows .delete, .create, .editor, .edit:not([hidden])').length")
    page.check(seen == 0, "nothing can be edited", seen)
