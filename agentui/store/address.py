"""PostgreSQL's address, understood before its driver is needed."""

from urllib.parse import parse_qs, urlsplit


def place_of(url: str) -> str:
    """``host:port/database`` of a URL. Raises ValueError, which does not repeat the URL: it holds a password."""
    try:
        parts = urlsplit(url)
        port = parts.port or 5432
        host = parts.hostname or parse_qs(parts.query).get("host", ["localhost"])[0]
    except ValueError:
        raise ValueError("The database URL cannot be read; is a special character of the password not %-encoded?") from None
    if parts.scheme not in ("postgres", "postgresql", "postgresql+asyncpg"):
        raise ValueError("The database URL must begin with postgresql://. Leave it out to use SQLite in the data folder.")
    return f"{host}:{port}{parts.path}"
