"""``PasswordAttempts``: how many passwords may be tried for an account, and from where."""

from collections import OrderedDict
from typing import Final

from aiohttp import web

from agentui.http.limits import MOST_CALLERS, Buckets

PER_ADDRESS: Final = 10
"""Passwords a minute that one address may try for one account; a right one has to wait with the others."""
PER_ACCOUNT: Final = 60
"""Passwords a minute that all addresses together may try for one account."""


class PasswordAttempts:
    """Counts passwords before they are looked at, or many at once would not be counted.

    One address that guesses must not shut an account's owner out, so each has a bucket of its own. Many that guess together
    share one more, of which those addresses take nothing from which somebody has signed in to the account.
    """

    def __init__(self) -> None:
        self._by_address = Buckets(PER_ADDRESS)
        self._by_account = Buckets(PER_ACCOUNT)
        self._changes = Buckets(PER_ADDRESS)
        self._known: OrderedDict[str, None] = OrderedDict()

    def take(self, account: str, address: str) -> float:
        """Count one. Seconds to wait where there were too many; then nothing is counted."""
        place = _place(account, address)
        wait = self._by_address.take(place)
        return wait if wait or place in self._known else self._by_account.take(account.casefold())

    def take_change(self, account: str) -> float:
        """The same for a password that who is let in already says to change it."""
        return self._changes.take(account)

    def was_right(self, account: str, address: str) -> None:
        """Somebody has signed in from there."""
        place = _place(account, address)
        self._known[place] = None
        self._known.move_to_end(place)
        if len(self._known) > MOST_CALLERS:
            self._known.popitem(last=False)


def _place(account: str, address: str) -> str:
    return f"{address} {account.casefold()}"


ATTEMPTS: web.AppKey[PasswordAttempts] = web.AppKey("attempts", PasswordAttempts)
