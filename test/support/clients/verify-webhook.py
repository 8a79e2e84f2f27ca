"""Verifies deliveries with the official library: reads {"secret", "deliveries": [{"headers", "body"}]} from the
first argument and prints for each whether it is accepted."""

import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

given = json.loads(sys.argv[1])
webhook = Webhook(given["secret"])


def accepted(delivery):
    try:
        webhook.verify(delivery["body"], delivery["headers"])
        return True
    except WebhookVerificationError:
        return False


print(json.dumps([accepted(delivery) for delivery in given["deliveries"]]))
