"""Edits: collected, taken back, saved, and refused. Changes the class "Person" of the store."""

import json

from reading import address, ids

CLASS = "Person"


def run(page):
    people = People(page)
    check_edits(page, people)
    check_saved(page, people)
    check_warning(page, people)
    check_keep_mine(page, people)
    check_drop_mine(page, people)
    check_gone(page, people)
    check_refused(page, people)
    check_object(page, people)
    check_live(page, people)


class People:
    """The first rows of the table, by their ids."""

    def __init__(self, page):
        self.page = page
        self.answer = page.read("rows", **{"class": CLASS}, sort="id")
        self.columns = self.answer["columns"]
        page.check(len(self.answer["rows"]) >= 6, "there are people to edit")
        page.show(address("class", CLASS, sort="id"))
        page.wait_for_rows(ids(self.answer), "the people are shown")

    def row(self, index):
        return self.answer["rows"][index]["row"]

    def line(self, row):
        return f".rows tr:has(th a[href={json.dumps(address('object', CLASS, row))}])"

    def cell(self, row, name):
        return f"{self.line(row)} td:nth-child({self.columns.index(name) + 2})"

    def stored(self, row, name):
        """What the server has, as text."""
        parts = self.page.read("object", **{"class": CLASS}, row=row)["properties"]
        cell = next(part["cell"] for part in parts if part["name"] == name)
        return cell["text"] if isinstance(cell, dict) else cell

    def change(self, row, name, new):
        """Changes a value past the page."""
        self.page.save({
            "change": "set", "class": CLASS, "row": row, "key": self.stored(row, "id"),
            "property": name, "old": self.stored(row, name), "new": new})

    def edit(self, row, name, text):
        """Edits a cell with the keys."""
        self.page.browser.evaluate(f"document.querySelector({json.dumps(self.cell(row, name))}).focus()")
        self.page.browser.press("F2")
        self.page.wait_for(".editor :is(textarea, select)", f"{name} is edited in its cell")
        self.page.browser.press("a", "Control")
        self.page.browser.type(text)
        self.page.browser.press("Enter")

    def shows(self, row, name, text, what):
        script = f"document.querySelector({json.dumps(self.cell(row, name))})?.textContent"
        self.page.wait(f"{script} === {json.dumps(text)}", what)


def edit_count(page):
    return page.value("document.querySelector('#edits').hidden ? 0"
                      " : document.querySelectorAll('#edits ol > li').length")


def other(text):
    """Another number."""
    return str((int(text) + 7) % 100)


def save(page):
    page.browser.press("s", "Control")


def saved(page):
    page.wait("document.querySelector('#edits').hidden", "the edits are saved")


def check_edits(page, people):
    row = people.row(0)
    old = people.stored(row, "age")
    page.browser.click(people.cell(row, "age"), count=2)
    page.wait_for(".editor textarea", "a double click edits a cell")
    page.browser.press("Escape")
    page.check(edit_count(page) == 0, "Escape leaves it as it was")
    people.edit(row, "age", other(old))
    people.shows(row, "age", other(old), "the cell shows the edit")
    page.wait_for(f"{people.cell(row, 'age')}.edited", "and is marked")
    page.check(edit_count(page) == 1, "the edit is in the list")
    text = page.text("#edits .what")
    page.check(f": age {old} → {other(old)}" in text, "with what it changes", text)
    page.browser.press("z", "Control")
    page.check(edit_count(page) == 0, "Ctrl+Z takes it back")
    people.shows(row, "age", old, "the cell shows what is stored")
    people.edit(row, "age", other(old))
    people.edit(row, "age", old)
    page.check(edit_count(page) == 0, "an edit back to what is stored is none")


def check_saved(page, people):
    changed, emptied, deleted = people.row(0), people.row(1), people.row(2)
    age = other(people.stored(changed, "age"))
    people.edit(changed, "age", age)
    people.edit(changed, "name", "Ada <b>Lovelace</b>")
    if people.stored(emptied, "team") is None:
        people.change(emptied, "team", "red")
        people.shows(emptied, "team", "red", "what others change is shown")
    page.browser.evaluate(f"document.querySelector({json.dumps(people.cell(emptied, 'team'))}).focus()")
    page.browser.press("Delete", "Control")
    people.shows(emptied, "team", "null", "Ctrl+Delete sets a cell to null")
    page.browser.press("Home")
    page.browser.press("ArrowDown")
    page.browser.press("Delete")
    page.wait_for(f"{people.line(deleted)}.deleted", "Delete on a row's number deletes the object")

    newest = page.read("rows", **{"class": CLASS}, sort="id", descending="1", count=1)["rows"][0]
    id = str(int(newest["cells"][people.columns.index("id")]) + 1)
    page.browser.click(".create")
    page.wait_for("dialog.create-form[open]", "a form asks for a new object")
    for label, text in (("id", id), ("name", "Grace")):
        page.value("[...document.querySelectorAll('.create-form label')]"
                   f".find((label) => label.textContent === '{label}').control.focus()")
        page.browser.type(text)
    page.browser.press("Enter")
    page.wait("!document.querySelector('.create-form')", "and is closed when it is filled in")
    page.check(edit_count(page) == 5, "all edits are in the list", page.texts("#edits .what"))
    page.screenshot("edits")

    page.browser.click("#edits ol li:nth-child(2) button")
    page.check(edit_count(page) == 4, "each has a way back")
    page.browser.click("#edits .undo-last")
    page.check(edit_count(page) == 5, "which itself can be taken back")
    page.browser.click("#edits .save")
    saved(page)
    page.check(people.stored(changed, "age") == age, "the number is stored")
    page.check(people.stored(changed, "name") == "Ada <b>Lovelace</b>", "the text is stored")
    page.check(people.stored(emptied, "team") is None, "null is stored")
    status, _ = page.refusal("object", **{"class": CLASS}, row=deleted)
    page.check(status == 404, "the object is deleted", status)
    made = page.read("rows", **{"class": CLASS}, query=f"id == {id}")
    page.check(made["total"] == 1, "the new object is stored")
    people.answer = page.read("rows", **{"class": CLASS}, sort="id")
    page.wait_for_rows(ids(people.answer), "the table shows the rows as they are now")
    people.shows(changed, "name", "Ada <b>Lovelace</b>", "and their values")


def check_warning(page, people):
    row = people.row(0)
    people.edit(row, "age", other(people.stored(row, "age")))
    page.browser.reload()
    page.check(page.browser.dialogs == ["beforeunload"], "leaving with edits warns", page.browser.dialogs)
    page.wait_for_rows(ids(people.answer), "the table is shown again")


def conflict(page, people, row):
    """Edits an age that another process changes as well; returns what is edited and what is found."""
    old = people.stored(row, "age")
    mine, theirs = other(old), other(other(old))
    people.edit(row, "age", mine)
    people.change(row, "age", theirs)
    save(page)
    page.expected.add(409)
    page.wait_for("#edits .conflict", "a conflict is shown")
    text = page.text("#edits .conflict")
    page.check(f"expected {old}, found {theirs}" in text, "with what was expected and found", text)
    page.wait_for(f"{people.cell(row, 'age')}.conflicting", "and marked in the table")
    page.check(people.stored(row, "age") == theirs, "nothing is saved")
    return mine, theirs


def check_keep_mine(page, people):
    row = people.row(0)
    mine, _ = conflict(page, people, row)
    page.screenshot("conflict")
    page.browser.click("#edits .keep-mine")
    page.wait("!document.querySelector('#edits .conflict')", "what is kept is no conflict any more")
    save(page)
    saved(page)
    page.check(people.stored(row, "age") == mine, "mine is stored")


def check_drop_mine(page, people):
    row = people.row(1)
    _, theirs = conflict(page, people, row)
    page.browser.click("#edits .drop-mine")
    page.check(edit_count(page) == 0, "what is dropped is no edit any more")
    people.shows(row, "age", theirs, "the cell shows theirs")


def check_gone(page, people):
    row = people.row(3)
    people.edit(row, "age", other(people.stored(row, "age")))
    page.save({"change": "delete", "class": CLASS, "row": row, "key": people.stored(row, "id"), "old": {}})
    people.answer = page.read("rows", **{"class": CLASS}, sort="id")
    page.wait_for_rows(ids(people.answer), "an object that others delete goes away")
    save(page)
    page.wait("document.querySelector('#edits .conflict')?.textContent.includes('gone')",
              "an edit of it cannot be saved")
    page.check(page.value("!document.querySelector('.keep-mine')"), "nor kept")
    page.browser.click("#edits .discard")
    page.check(edit_count(page) == 0, "all edits can be discarded")


def check_refused(page, people):
    row = people.row(0)
    people.edit(row, "age", "many")
    save(page)
    page.wait_for("#edits li.refused .failure", "an edit that cannot be done tells why")
    page.browser.press("z", "Control")
    page.check(edit_count(page) == 0, "and can be taken back")


def check_object(page, people):
    row = people.row(0)
    page.browser.click(f"{people.line(row)} th a")
    line = ".properties tr[data-name=name]"
    page.wait_for(f"{line} .edit", "the view of an object can edit, too")
    page.browser.click(f"{line} .edit")
    page.browser.press("a", "Control")
    page.browser.type("two")
    page.browser.press("Enter", "Shift")
    page.browser.type("lines")
    page.browser.press("Enter")
    page.wait_for(f"{line} .edited", "its edits are marked")
    save(page)
    saved(page)
    page.check(people.stored(row, "name") == "two\nlines", "a text of two lines is stored",
               people.stored(row, "name"))
    page.browser.evaluate("document.activeElement.blur()")
    page.browser.press("Escape")
    page.wait_for_rows(ids(people.answer), "Escape leads back to the table")


def check_live(page, people):
    row = people.row(1)
    text = other(people.stored(row, "age"))
    people.change(row, "age", text)
    page.wait_for(f"{people.cell(row, 'age')}.changed", "a cell that others change is marked")
    people.shows(row, "age", text, "and shows the new value")
    page.wait("!document.querySelector('.changed')", "the mark goes away")

    count = "document.querySelector('#side a[href=\"#/class/Person\"] .count').textContent"
    before = page.value(count)
    key = str(int(people.answer["rows"][0]["cells"][people.columns.index("id")]) - 1)
    made = page.save({"change": "create", "class": CLASS, "new": {"id": key, "name": "New"}})
    page.wait_for(f"{people.line(made['rows'][0])}.new", "a new row is marked")
    page.wait(f"{count} !== {json.dumps(before)}", "the number of objects follows")
    page.browser.set_offline(True)
    page.save({"change": "delete", "class": CLASS, "row": made["rows"][0], "key": key, "old": {}})
    page.browser.set_offline(False)
    people.answer = page.read("rows", **{"class": CLASS}, sort="id")
    page.wait_for_rows(ids(people.answer), "what was missed while apart is read anew")
