"""Messages about Extended Events: number -> (severity, state, text).

Source: "Database Engine events and errors (23000 to 25999)" (SQL Server documentation). States are not confirmed.
"""

from __future__ import annotations

TRACES: dict[int, tuple[int, int, str]] = {
    25623: (16, 1, 'The {0} name, "{1}", is invalid, or the object could not be found'),
    25625: (16, 1, 'The {0}, "{1}", already exists in the event session. Object cannot be added to the event session.'),
    25629: (16, 1, 'For {0}, "{1}", the customizable attribute, "{2}", does not exist.'),
    25631: (16, 1, 'The {0}, "{1}", already exists. Choose a unique name for the event session.'),
    25642: (16, 1, 'Mandatory customizable attributes are missing for {0}, "{1}".'),
    25653: (16, 1, 'The {0}, "{1}", does not exist in the event session. Object cannot be dropped from the event session.'),
    25704: (16, 1, "The event session has already been stopped."),
    25705: (16, 1, "The event session has already been started."),
    25706: (16, 1, 'The {0}, "{1}", could not be found.'),
    25711: (16, 1, "Failed to parse an event predicate."),
}
