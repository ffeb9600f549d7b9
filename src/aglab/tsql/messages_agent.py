"""Messages of SQL Server Agent's procedures: number -> (severity, state, text).

Source: "Database engine events and errors" 14000 to 14999 (SQL Server documentation); states are not part of it, 14243 and 14254
reach a client as information.
"""

from __future__ import annotations

AGENT: dict[int, tuple[int, int, str]] = {
    14234: (16, 1, "The specified '{0}' is invalid (valid values are returned by {1})."),
    14243: (0, 1, "Job '{0}' started successfully."),
    14254: (0, 1, "Job '{0}' stopped successfully."),
    14256: (
        16,
        1,
        'Cannot start the job "{0}" (ID {1}) because it does not have any job server or servers defined. Associate the job with '
        "a job server by calling sp_add_jobserver.",
    ),
    14266: (16, 1, "The specified '{0}' is invalid (valid values are: {1})."),
    14269: (16, 1, "Job '{0}' is already targeted at server '{1}'."),
    14278: (16, 1, "The schedule for this job is invalid (reason: {0})."),
    14287: (16, 1, "The '{0}' supplied has an invalid {1}."),
    14294: (16, 1, "Supply either {0} or {1} to identify the job."),
    14373: (16, 1, "Supply either {0} or {1} to identify the schedule."),
    14372: (16, 1, "The schedule was not deleted because it is being used by one or more jobs."),
    14374: (16, 1, 'The specified schedule name "{0}" is not associated with the job "{1}".'),
    14515: (
        16,
        1,
        "Only a member of the sysadmin server role can add a job for a different owner with @owner_login_name.",
    ),
    14528: (16, 1, 'Job "{0}" has no steps defined.'),
}
