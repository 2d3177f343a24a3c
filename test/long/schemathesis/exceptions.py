"""
What Schemathesis may complain about, and why. Everything else is a failure.

Each exception is a function that recognizes it; its docstring is the reason. Those that were needed are appended to the
file that EXCEPTIONS_USED names.
"""

import os

import schemathesis

INVALID = "AcceptedNegativeData"
VALID = "RejectedPositiveData"
ANSWERS = {}


def exception(recognize):
    ANSWERS[recognize.__name__] = recognize
    return recognize


@exception
def lenient_paging(kind, case, response):
    """A page or limit that is no positive number means the default, as in the API family."""
    return kind == INVALID and mutated(case) <= {"page", "limit"}


@exception
def lenient_flags(kind, case, response):
    """A flag in a query that is neither true nor 1 counts as false, as in the API family."""
    return kind == INVALID and mutated(case) <= {"all", "check_client_org", "summary"}


@exception
def null_is_absent(kind, case, response):
    """Clients in Go send null for what was not given: null counts as left out, also instead of a whole body."""
    return kind == INVALID and (case.body is None or contains_null(case.body))


@exception
def beyond_the_schema(kind, case, response):
    """412 is about If-Match, 422 about rules between fields and other objects: no schema can say either."""
    return kind == VALID and response.status_code in (412, 422)


@exception
def names_nothing(kind, case, response):
    """A text of the right form can still be no cursor, account, team, object, marketplace or time of this server."""
    said = (
        "cursor was not issued",
        "no account is named",
        "not a team of the organization",
        "marketplace must be one of",
        "object must be a type",
        "must be an RFC 3339 time",
        "; at must not be earlier",
        "types must be some of",
        "q must have 1 to 64 characters",
    )
    return kind == VALID and response.status_code == 400 and any(words in response.text for words in said)


@exception
def no_nul(kind, case, response):
    """A NUL is a character of JSON Schema, but of no text that a database can store."""
    return kind == VALID and response.status_code == 400 and "contains a NUL character" in response.text


@exception
def empty_order(kind, case, response):
    """An order without items is one of the right form, as clients send it, and nothing to do: 400, as specified."""
    return kind == VALID and response.status_code == 400 and "the order has no items" in response.text


@exception
def rules_of_the_listener(kind, case, response):
    """The listener reads notifications by rules that depend on the marketplace, and answers 400 to all violations."""
    return kind == VALID and response.status_code == 400 and case.path.startswith("/marketplace/")


@exception
def stale_before_invalid(kind, case, response):
    """An If-Match that does not match is reported first, before anybody looks at the body."""
    return kind == INVALID and response.status_code == 412


@exception
def no_message_bus(kind, case, response):
    """The history of resources is on the message bus, and none runs here: 503, as documented."""
    return kind == "ServerError" and response.status_code == 503 and "/bus/" in case.path


@exception
def no_cloud(kind, case, response):
    """Buckets are listed by a cloud, and none can be reached from here: 502, as documented."""
    return kind == "ServerError" and response.status_code == 502 and case.path.endswith("/buckets")


@schemathesis.hook
def filter_failure(context, failure, case, response):
    kind = type(failure).__name__
    for name, recognize in ANSWERS.items():
        if recognize(kind, case, response):
            with open(os.environ["EXCEPTIONS_USED"], "a", encoding="utf-8") as used:
                used.write(f"{name}\n")
            return False
    return True


@schemathesis.hook
def filter_case(context, case):
    """Nobody ends the session or deletes the account and the tokens that the run itself needs."""
    person = os.environ["PERSON"]
    names = {str(value) for value in (case.path_parameters or {}).values()}
    return not (case.method.upper() in ("DELETE", "PATCH", "PUT") and person in names)


def mutated(case):
    data = case.meta.phase.data
    names = {data.parameter} if data.parameter else {one.parameter for one in data.mutations}
    return {name for name in names if name} or {"?"}


def contains_null(value):
    if isinstance(value, dict):
        return any(one is None or contains_null(one) for one in value.values())
    if isinstance(value, list):
        return any(one is None or contains_null(one) for one in value)
    return False
