"""The calls that py-gitea shares with this server; one line for each: "ok NAME" or "no NAME: why"."""

import os
import sys

from gitea import Gitea, NotFoundException, User

world = {name: os.environ[name] for name in ("BASE_URL", "ROOT_TOKEN", "ANN_TOKEN", "ANN_PASSWORD")}
root = Gitea(world["BASE_URL"], token_text=world["ROOT_TOKEN"])
ann = Gitea(world["BASE_URL"], token_text=world["ANN_TOKEN"])


def same(found, wanted):
    if found != wanted:
        raise AssertionError(f"{found!r} instead of {wanted!r}")


def as_ann():
    """py-gitea reads teams and emails with ?sudo=, so an administrator asks about ann."""
    return User.parse_response(root, ann.requests_get("/user"))


def version():
    if not ann.get_version().startswith("v"):
        raise AssertionError(ann.get_version())


def emails():
    same(as_ann().emails, ["ann@example.com", "ann.archer@example.org"])


def email_round():
    ann.requests_post("/user/emails", {"emails": ["py@example.net"]})
    ann.requests_delete("/user/emails", {"emails": ["py@example.net"]})


def teams():
    same([(team.name, team.organization.name) for team in as_ann().get_teams()], [("Owners", "acme")])


def followers():
    fans = root.requests_get_paginated("/user/followers")
    same((len(fans), len({fan["id"] for fan in fans})), (45, 45))


def follow():
    ann.requests_put("/user/following/cat")
    ann.requests_get("/user/following")
    ann.requests_delete("/user/following/cat")


def unknown():
    try:
        ann.requests_get("/user/following/nobody")
    except NotFoundException:
        return
    raise AssertionError("no NotFoundException")


def basic():
    same(Gitea(world["BASE_URL"], auth=("ann", world["ANN_PASSWORD"])).get_user().login, "ann")


CALLS = {
    "get_version": version,
    "get_user": lambda: same(ann.get_user().login, "ann"),
    "get_user with a password": basic,
    "User.emails": emails,
    "emails, added and deleted": email_round,
    "User.get_teams": teams,
    "followers, page by page": followers,
    "follow and unfollow": follow,
    "NotFoundException": unknown,
}
failed = 0
for name, call in CALLS.items():
    try:
        call()
        print(f"ok {name}")
    except Exception as fault:  # noqa: BLE001 - whatever it is, it is the finding
        failed += 1
        print(f"no {name}: {type(fault).__name__}: {fault}")
sys.exit(1 if failed else 0)
