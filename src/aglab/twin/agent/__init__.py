"""SQL Server Agent: jobs of T-SQL steps that run as their owner, schedules on the cluster's clock, history in msdb.

``jobs`` keeps what msdb keeps, ``schedules`` says when a schedule is due, ``runs`` runs a job, ``statements`` carries out msdb's
procedures, ``views`` shows msdb's tables. Schedules fire as time passes; they do not make it pass. Refused by name:
subsystems other than T-SQL, monthly relative and idle schedules, steps as another database user. Left out: multiserver jobs,
notifications, operators and alerts. Sources: "SQL Server Agent Tables" and the pages of the procedures (SQL Server
documentation).
"""

from aglab.twin.agent.jobs import Agent
from aglab.twin.agent.statements import COMMANDS
from aglab.twin.agent.views import VIEWS

__all__ = ["COMMANDS", "VIEWS", "Agent"]
