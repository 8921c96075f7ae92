"""Uses the page of `cambium serve` in Chromium, and checks what it shows against the server's answers.

    python3 page.py http://127.0.0.1:8080/#TOKEN [--screenshots FOLDER] [--writable]

Any store will do whose classes have links. With --writable the store is changed, and has to have a class
"Person" with `id` (Int, primary key), `name` (String), `age` (Int), `team` (String?) and `friend`.
The exit status is 1 when a check fails, with a line that says which.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True

from chromium import Chromium, PageError
from checks import Failure, Page
import reading
import writing


def main():
    parser = argparse.ArgumentParser(description="Checks the page of 'cambium serve' in Chromium.")
    parser.add_argument("address", help="what the server has printed")
    parser.add_argument("--screenshots", metavar="FOLDER", help="where to write pictures")
    parser.add_argument("--writable", action="store_true", help="edit and save as well")
    options = parser.parse_args()
    if options.screenshots:
        os.makedirs(options.screenshots, exist_ok=True)
    try:
        with Chromium() as browser:
            page = Page(browser, options.address, options.screenshots)
            reading.run(page, options.writable)
            if options.writable:
                writing.run(page)
            page.check_complaints()
    except (Failure, PageError) as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        return 1
    print(f"{page.count} checks passed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
