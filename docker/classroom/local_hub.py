"""A hub on this machine in place of the one on Kubernetes, for scripts/classroom_check.sh: a user id of its own for each seat.

The command of a seat is that of values.yaml. As root each seat runs under a number of its own that no account has, as a pod does;
otherwise all seats run as you, and what one seat can read of another shows nothing.
"""

import os
from pathlib import Path

import yaml
from jupyterhub.spawner import SimpleLocalProcessSpawner

HERE = Path(__file__).parent
FOLDER = Path(os.environ["AGLAB_CLASSROOM"])
FIRST_ID = 61_001
SEATS = os.environ["AGLAB_CLASSROOM_SEATS"].split()
values = yaml.safe_load((HERE / "values.yaml").read_text(encoding="utf-8"))


class Seat(SimpleLocalProcessSpawner):
    """A process under the seat's own user id, with a home that nobody else may enter."""

    def make_preexec_fn(self, name):
        number, home = FIRST_ID + SEATS.index(name), FOLDER / "home" / name
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if os.geteuid() == 0:
            os.chown(home, number, number)

        def enter():
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(number)
                os.setuid(number)
            os.chdir(home)

        return enter

    def user_env(self, env):
        home = str(FOLDER / "home" / self.user.name)
        return {**env, "USER": self.user.name, "HOME": home, "SHELL": "/bin/sh", "AGLAB_HOME": f"{home}/.aglab"}


c = get_config()  # noqa: F821 - given by JupyterHub
c.JupyterHub.bind_url = os.environ["AGLAB_CLASSROOM_URL"]
c.JupyterHub.hub_port = int(os.environ["AGLAB_CLASSROOM_HUB_PORT"])
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{os.environ['AGLAB_CLASSROOM_PROXY_PORT']}"
c.JupyterHub.db_url = f"sqlite:///{FOLDER}/hub.sqlite"
c.JupyterHub.cookie_secret_file = f"{FOLDER}/cookie_secret"
c.ConfigurableHTTPProxy.pid_file = f"{FOLDER}/proxy.pid"
c.JupyterHub.spawner_class = Seat
c.JupyterHub.authenticator_class = values["hub"]["config"]["JupyterHub"]["authenticator_class"]
c.Authenticator.allow_all = True
c.JupyterHub.cleanup_servers = True
c.JupyterHub.services = [{"name": "check", "api_token": os.environ["AGLAB_CLASSROOM_TOKEN"]}]
c.JupyterHub.load_roles = [
    {"name": "check", "services": ["check"], "scopes": ["admin:users", "admin:servers", "access:servers", "list:users"]}
]
c.Spawner.cmd = values["singleuser"]["cmd"]
c.Spawner.default_url = values["singleuser"]["defaultUrl"]
c.Spawner.start_timeout = values["singleuser"]["startTimeout"]
c.Spawner.http_timeout = 120
c.Spawner.env_keep = ["PATH", "AGLAB_CACHE_DIR"]
