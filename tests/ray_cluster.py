"""A Ray cluster of two nodes on the loopback of this computer, with caches of their own.

It runs in a process of its own: `python ray_cluster.py PORT FOLDER`, which then obeys lines.
"""

import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

MEMORY = 100 << 20  # bytes of the object store of a node
HERE = Path(__file__).parents[1]
# Without the first, the client server looks for the cluster at the address of the network card.
ENVIRONMENT = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "GRPC_ENABLE_FORK_SUPPORT": "0",  # the server of a client, which is forked, crashed at times
    "OMP_NUM_THREADS": "1",
}
NODE = {
    "object_store_memory": MEMORY,
    "node_ip_address": "127.0.0.1",
    "include_dashboard": False,
}


class LocalCluster:
    def __init__(self, folder: Path, port: int, process: subprocess.Popen):
        self.folder, self.address, self._process = folder, f"ray://127.0.0.1:{port}", process

    def kept(self, number):
        """Names of the contents that a node keeps."""
        return {path.name for path in (self.folder / str(number)).rglob("cluster/*")}

    def lose(self, number):
        """End a node at once, with everything that runs there."""
        self.obey(f"lose {number}")

    def add(self, number):
        self.obey(f"add {number}")

    def obey(self, line):
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        self.hear()

    def hear(self):
        while (line := self._process.stdout.readline()) not in ("ready\n", ""):
            pass
        assert line, "the cluster has ended"


@contextmanager
def started(folder: Path, *paths: Path):
    """A head without work and two nodes with a processor each; paths: for targets of jobs."""
    pytest.importorskip("ray", reason="the extra cluster is not installed")
    pytest.importorskip("grpc", reason="the extra cluster is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        **ENVIRONMENT,
        "PYTHONPATH": os.pathsep.join(map(str, (HERE, *paths))),
        "HOME": str(folder),
    }
    with open(folder / "cluster.log", "wb") as log:
        process = subprocess.Popen(
            [sys.executable, __file__, str(port), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment,
        )
    local = LocalCluster(folder, port, process)
    try:
        local.hear()
        yield local
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def main(port: int, folder: Path) -> None:
    from ray.cluster_utils import Cluster

    head = {**NODE, "num_cpus": 0, "ray_client_server_port": port}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = {}

    def add(number: str) -> None:
        environment = {"XDG_CACHE_HOME": str(folder / number)}
        nodes[number] = cluster.add_node(**NODE, num_cpus=1, env_vars=environment)
        cluster.wait_for_nodes(30)

    def lose(number: str) -> None:
        cluster.remove_node(nodes.pop(number), allow_graceful=False)

    try:
        add("1")
        add("2")
        print("ready", flush=True)
        for line in sys.stdin:
            order, number = line.split()
            {"add": add, "lose": lose}[order](number)
            print("ready", flush=True)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
