"""Writes decimal-cases.txt: what Python's decimal module computes in the context of the IEEE 754-2008 format
with 34 digits. Run it in this folder; it prints the same table each time.

A line is an operation, its operands and the result, between single spaces. Results have no trailing zeros.
"""

import random
from decimal import Context, Decimal, ROUND_HALF_EVEN

context = Context(prec=34, rounding=ROUND_HALF_EVEN, Emin=-6143, Emax=6144, clamp=1, traps=[])
random.seed(34)


def text(value):
    """The shortest exact form: digits without trailing zeros and an exponent."""
    if value.is_nan():
        return "NaN"
    sign = "-" if value.is_signed() else ""
    if value.is_infinite():
        return sign + "Infinity"
    digits = "".join(map(str, value.as_tuple().digits))
    exponent = value.as_tuple().exponent
    if int(digits) == 0:
        return sign + "0"
    short = digits.rstrip("0")
    return f"{sign}{short}E{exponent + len(digits) - len(short)}"


def digits(count):
    return "".join(random.choice("0123456789") for _ in range(count))


def operand():
    sign = random.choice(["", "-"])
    kind = random.randrange(12)
    if kind == 0:
        return sign + random.choice(["0", "Infinity", "NaN", "0E-6176", "0E6111", "1E-6176", "1E-6143"])
    if kind == 1:
        return f"{sign}{'9' * random.randint(1, 34)}E{random.randint(-40, 40)}"
    if kind == 2:
        return f"{sign}{digits(34)}E{random.choice([-6176, -6150, 6111, 6100])}"
    if kind == 3:
        return f"{sign}{random.randint(0, 1000)}"
    if kind == 4:
        return f"{sign}{random.randint(0, 99)}.{digits(random.randint(1, 6))}"
    if kind == 5:
        return f"{sign}1{'0' * random.randint(0, 33)}E{random.randint(-50, 50)}"
    if kind == 6:
        return f"{sign}5E{random.randint(-40, 5)}"
    return f"{sign}{digits(random.randint(1, 34))}E{random.randint(-60, 60)}"


def near(value):
    """An operand at the edge of what the other one's digits can hold: sums that round."""
    number = Decimal(value)
    if not number.is_finite() or not number:
        return operand()
    exponent = number.adjusted() - random.choice([32, 33, 34, 35])
    return f"{random.choice(['', '-'])}{random.choice(['5', '50000000001', '49999999999', '1', '9'])}E{exponent}"


lines = []
functions = {
    "add": context.add,
    "subtract": context.subtract,
    "multiply": context.multiply,
    "divide": context.divide,
}
for name, function in functions.items():
    for index in range(900):
        left = operand()
        right = near(left) if index % 3 == 0 and name in ("add", "subtract") else operand()
        result = function(context.create_decimal(left), context.create_decimal(right))
        lines.append(f"{name} {left} {right} {text(result)}")
for _ in range(400):
    value = operand()
    number = context.create_decimal(value)
    lines.append(f"negate {value} {text(number.copy_negate())}")
    lines.append(f"magnitude {value} {text(number.copy_abs())}")
for _ in range(600):
    left, right = operand(), operand()
    if random.randrange(4) == 0:
        right = left + "0" if "E" not in left and "." in left else left
    a, b = context.create_decimal(left), context.create_decimal(right)
    if not (a.is_nan() or b.is_nan()):
        lines.append(f"compare {left} {right} {a.compare(b)}")
for _ in range(600):
    # More digits than fit, and exponents beyond the format.
    whole, fraction = digits(random.randint(1, 50)), digits(random.randint(0, 30))
    point = "." + fraction if fraction else ""
    exponent = random.choice([0, random.randint(-60, 60), random.randint(-6230, -6100), random.randint(6080, 6160)])
    value = f"{random.choice(['', '-', '+'])}{whole}{point}{random.choice(['E', 'e'])}{exponent}"
    lines.append(f"read {value} {text(context.create_decimal(value))}")
for _ in range(300):
    value = operand()
    number = context.create_decimal(value)
    if number.is_finite():
        lines.append(f"double {value} {float(number)!r}")
for _ in range(300):
    number = random.choice(
        [random.uniform(-1000, 1000), random.uniform(-1, 1) * 10 ** random.randint(-300, 300),
         float(random.randint(-2**53, 2**53)), random.random() * 5e-324 * 1000])
    lines.append(f"of {number!r} {text(context.create_decimal(repr(number)))}")
with open("decimal-cases.txt", "w") as file:
    file.write("\n".join(lines) + "\n")
