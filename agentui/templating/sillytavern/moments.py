"""Times as moment.js writes them, which SillyTavern's macros use, in English."""

import re
from datetime import datetime, timedelta, timezone

_TOKEN = re.compile(
    r"\[(?P<literal>[^\[\]]*)\]|YYYY|YY|Q|MMMM|MMM|MM|Mo|M|DDDD|DDD|DD|Do|D|dddd|ddd|dd|d|E|WW|W|HH|H|hh|h|mm|m|ss|s|SSS|SS|S|A|a|ZZ|Z|X|x"
    r"|LLLL|LLL|LL|LTS|LT|L"
)
_LOCAL_FORMATS = {
    "LT": "h:mm A",
    "LTS": "h:mm:ss A",
    "L": "MM/DD/YYYY",
    "LL": "MMMM D, YYYY",
    "LLL": "MMMM D, YYYY h:mm A",
    "LLLL": "dddd, MMMM D, YYYY h:mm A",
}
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ZONE = re.compile(r"UTC\s*(?P<sign>[+-])\s*(?P<hours>[0-9]{1,2})(?::?(?P<minutes>[0-5][0-9]))?", re.IGNORECASE)
_MONTH_OF_DAYS = 30.436875


def format_moment(now: datetime, pattern: str) -> str:
    """A time by moment's pattern: ``YYYY-MM-DD``, ``dddd``, ``[at] HH:mm``; other characters stand as they are.

    >>> format_moment(datetime(2026, 3, 2, 15, 4), "dddd, MMMM Do YYYY, h:mm a [UTC]")
    'Monday, March 2nd 2026, 3:04 pm UTC'
    """
    fields = _fields(now)

    def field(match: re.Match[str]) -> str:
        if match["literal"] is not None:
            return match["literal"]
        if match.group() in _LOCAL_FORMATS:
            return _TOKEN.sub(field, _LOCAL_FORMATS[match.group()])
        return str(fields[match.group()])

    return _TOKEN.sub(field, pattern)


def _fields(now: datetime) -> dict[str, object]:
    """What every token of a pattern means at a time."""
    hour = now.hour % 12 or 12
    day_of_year = now.timetuple().tm_yday
    week = now.isocalendar().week
    offset = now.strftime("%z") or "+0000"
    return {
        "YYYY": f"{now.year:04d}", "YY": f"{now.year % 100:02d}", "Q": (now.month + 2) // 3,
        "MMMM": _MONTHS[now.month - 1], "MMM": _MONTHS[now.month - 1][:3], "MM": f"{now.month:02d}",
        "Mo": _ordinal(now.month), "M": now.month, "DDDD": f"{day_of_year:03d}", "DDD": day_of_year,
        "DD": f"{now.day:02d}", "Do": _ordinal(now.day), "D": now.day,
        "dddd": _DAYS[now.weekday()], "ddd": _DAYS[now.weekday()][:3], "dd": _DAYS[now.weekday()][:2],
        "d": now.isoweekday() % 7, "E": now.isoweekday(), "WW": f"{week:02d}", "W": week,
        "HH": f"{now.hour:02d}", "H": now.hour, "hh": f"{hour:02d}", "h": hour,
        "mm": f"{now.minute:02d}", "m": now.minute, "ss": f"{now.second:02d}", "s": now.second,
        "SSS": f"{now.microsecond // 1000:03d}", "SS": f"{now.microsecond // 10_000:02d}", "S": now.microsecond // 100_000,
        "A": "AM" if now.hour < 12 else "PM", "a": "am" if now.hour < 12 else "pm",
        "Z": f"{offset[:3]}:{offset[3:5]}", "ZZ": offset[:5], "X": int(now.timestamp()), "x": int(now.timestamp() * 1000),
    }  # fmt: skip


def _ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def in_zone(now: datetime, zone: str) -> datetime | None:
    """The same moment in a zone such as ``UTC+2`` or ``UTC-03:30``; None for what is no zone."""
    match = _ZONE.fullmatch(zone.strip())
    if match is None or int(match["hours"]) > 18:
        return None
    offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
    return now.astimezone(timezone(-offset if match["sign"] == "-" else offset))


def parse_moment(text: str, zone: datetime) -> datetime | None:
    """The time that an ISO text means, in ``zone``'s zone where it names none; None for anything else."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone.tzinfo)


def humanized(span: timedelta, *, with_suffix: bool = False) -> str:
    """A span as a person says it, by moment's thresholds; ``with_suffix`` says whether it lies ahead or behind.

    >>> humanized(timedelta(minutes=5)), humanized(timedelta(hours=-30), with_suffix=True)
    ('5 minutes', 'a day ago')
    """
    seconds = round(abs(span.total_seconds()))
    minutes, hours, days = round(seconds / 60), round(seconds / 3600), round(seconds / 86400)
    months, years = round(seconds / 86400 / _MONTH_OF_DAYS), round(seconds / 86400 / _MONTH_OF_DAYS / 12)
    words = next(
        text
        for fits, text in (
            (seconds < 45, "a few seconds"),
            (minutes <= 1, "a minute"),
            (minutes < 45, f"{minutes} minutes"),
            (hours <= 1, "an hour"),
            (hours < 22, f"{hours} hours"),
            (days <= 1, "a day"),
            (days < 26, f"{days} days"),
            (months <= 1, "a month"),
            (months < 11, f"{months} months"),
            (years <= 1, "a year"),
            (True, f"{years} years"),
        )
        if fits
    )
    if not with_suffix:
        return words
    return f"in {words}" if span.total_seconds() > 0 else f"{words} ago"
