"""The memory's hosts: sessions, their branches, floors, pages and messages, and the turns that fill them."""
