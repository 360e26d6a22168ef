"""Plots as SVG: a dot for the median of each row, a line for its spread, on a logarithmic axis."""

import math
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, ROW, TOP, BOTTOM = 780, 225, 110, 24, 44, 40
OURS, OTHERS, TEXT, GRID = "#b3400b", "#39618f", "#222222", "#d8d8d8"


def _ticks(low, high):
    """1, 2 and 5 times the powers of ten between them; fewer where that is many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 2 else (1,)
    ticks = [step * 10.0 ** power for power in range(first, last + 1) for step in steps]
    below = [tick for tick in ticks if tick <= low]
    above = [tick for tick in ticks if tick >= high]
    return [tick for tick in ticks if (not below or tick >= below[-1]) and (not above or tick <= above[0])]


def _text(x, y, words, anchor="start", **style):
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{TEXT}"{extra}>{escape(words)}</text>'


def _label(tick):
    return f"{tick:,.0f}" if tick >= 1 else f"{tick:g}"


def plot(title, unit, rows, number):
    """rows: (name, least, median, most, whether it is ours); `number` writes a value."""
    positive = [value for row in rows for value in row[1:4] if value > 0] or [1.0]
    ticks = _ticks(min(positive), max(positive) * 1.0001)
    low, high = math.log10(ticks[0]), math.log10(max(ticks[-1], ticks[0] * 10))
    at = lambda value: LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(max(value, ticks[0])) - low) / (high - low)
    bottom = TOP + ROW * len(rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom + BOTTOM}" '
             f'viewBox="0 0 {WIDTH} {bottom + BOTTOM}" font-family="sans-serif" font-size="13">',
             f'<rect width="{WIDTH}" height="{bottom + BOTTOM}" fill="#ffffff"/>',
             _text(12, 22, title, font_weight="bold")]
    for tick in ticks:
        parts.append(f'<line x1="{at(tick):.1f}" x2="{at(tick):.1f}" y1="{TOP - 8}" y2="{bottom}" stroke="{GRID}"/>')
        parts.append(_text(at(tick), bottom + 16, _label(tick), "middle", font_size=11))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, bottom + 32, f"{unit}, logarithmic", "middle", font_size=11))
    for i, (name, least, median, most, is_ours) in enumerate(rows):
        y, color = TOP + ROW * i + ROW / 2 - 4, OURS if is_ours else OTHERS
        weight = {"font_weight": "bold"} if is_ours else {}
        parts.append(_text(LEFT - 12, y + 4, name, "end", **weight))
        parts.append(f'<line x1="{at(least):.1f}" x2="{at(most):.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{color}" stroke-width="3"/>')
        parts.append(f'<circle cx="{at(median):.1f}" cy="{y:.1f}" r="5" fill="{color}"/>')
        parts.append(_text(WIDTH - 12, y + 4, number(median), "end", **weight))
    return "\n".join([*parts, "</svg>"]) + "\n"
