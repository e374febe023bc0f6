"""Draws lines over a linear grid as SVG. Sizes and positions are pixels."""
import math
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 680, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 40, 50  # Margins around the plotted area.
LABEL_DISTANCE = 16  # Between two labels at the lines' ends.
FONT = "font-family='Helvetica, Arial, sans-serif'"


@dataclass(frozen=True)
class Line:
    """A line through (x, y) points in ascending x."""

    label: str
    color: str
    is_dashed: bool
    points: list[tuple[float, float]]


def ticks(largest: float, count: int = 5) -> list[float]:
    """About `count` round numbers from 0 to at least `largest`, evenly spaced."""
    raw = max(largest, 1e-9) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)
    return [step * index for index in range(math.ceil(largest / step - 1e-9) + 1)]


def plot(title: str, x_label: str, y_label: str, lines: list[Line]) -> str:
    """The SVG document."""
    x_ticks = ticks(max(x for line in lines for x, _ in line.points))
    y_ticks = ticks(max(y for line in lines for _, y in line.points))

    def place(x: float, y: float) -> tuple[float, float]:
        across = x / x_ticks[-1] * (WIDTH - LEFT - RIGHT)
        up = y / y_ticks[-1] * (HEIGHT - TOP - BOTTOM)
        return LEFT + across, HEIGHT - BOTTOM - up

    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' "
        f"width='{WIDTH}' height='{HEIGHT}' {FONT} font-size='13'>",
        f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>",
        _text(LEFT, 22, title, "start", "font-size='15' font-weight='bold'"),
    ]
    for value in y_ticks:
        x, y = place(0, value)
        parts.append(_segment(x, y, WIDTH - RIGHT, y))
        parts.append(_text(x - 8, y + 4, f"{value:g}", "end"))
    for value in x_ticks:
        x, y = place(value, 0)
        parts.append(_segment(x, y, x, y + 5))
        parts.append(_text(x, y + 20, f"{value:g}", "middle"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_label, "middle"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(_text(18, middle, y_label, "middle", f"transform='rotate(-90 18 {middle:g})'"))
    placed = [[place(*point) for point in line.points] for line in lines]
    for line, points in zip(lines, placed):
        parts += _polyline(line, points)
    parts += _labels(lines, [points[-1] for points in placed])
    return "\n".join([*parts, "</svg>", ""])


def _segment(x1: float, y1: float, x2: float, y2: float, stroke: str = "#dddddd") -> str:
    return f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{stroke}'/>"


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return (f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' fill='#222222' {more}>"
            f"{escape(text)}</text>")


def _polyline(line: Line, points: list[tuple[float, float]]) -> list[str]:
    dash = " stroke-dasharray='6 4'" if line.is_dashed else ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return [f"<polyline points='{path}' fill='none' stroke='{line.color}' stroke-width='2'{dash}/>",
            *(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{line.color}'/>" for x, y in points)]


def _labels(lines: list[Line], ends: list[tuple[float, float]]) -> list[str]:
    """Each line's name at its end, moved up where two would overlap."""
    parts: list[str] = []
    lowest = float(HEIGHT - BOTTOM + LABEL_DISTANCE)
    for line, (x, y) in sorted(zip(lines, ends), key=lambda pair: -pair[1][1]):
        lowest = min(y, lowest - LABEL_DISTANCE)
        right = WIDTH - RIGHT + 12
        parts.append(_segment(x + 4, y, right - 3, lowest, "#bbbbbb"))
        parts.append(_text(right, lowest + 4, line.label, "start").replace("#222222", line.color))
    return parts
