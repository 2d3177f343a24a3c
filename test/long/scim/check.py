"""Runs scim2-tester against a server, and prints what it found as JSON: check.py URL TOKEN_FILE SEED"""

import json
import random
import sys
import uuid

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server

url, token_file, seed = sys.argv[1:4]
# All that it makes up comes from these two.
random.seed(seed)
source = random.Random(seed)
uuid.uuid4 = lambda: uuid.UUID(int=source.getrandbits(128), version=4)

with open(token_file) as file:
    headers = {"Authorization": f"Bearer {file.read().strip()}"}
client = SyncSCIMClient(Client(base_url=url, headers=headers, timeout=60))
results = check_server(client)
print(
    json.dumps(
        [
            {"status": one.status.name, "title": one.title or "", "reason": one.reason or ""}
            for one in results
        ]
    )
)
