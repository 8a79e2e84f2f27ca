"""A receiver of webhooks in Python, with the official library: pip install standardwebhooks==1.1.0

It verifies, keeps the message, answers at once, and works on what it kept afterwards.
WEBHOOK_SECRET=whsec_... python3 receiver.py
"""

import json
import os
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

MAX_BODY_BYTES = 65_536
RETRY_SECONDS = 1


class Inbox:
    """Messages that were answered with 204, in a file: they outlive the process."""

    def __init__(self, path):
        self.lock = threading.Lock()
        self.has_news = threading.Event()
        self.rows = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.rows.execute(
            "create table if not exists message"
            " (id text primary key, body text not null, is_handled integer not null default 0)"
        )
        self.rows.execute(
            "create table if not exists latest (resource_id text primary key, occurred_at text not null)"
        )

    def keep(self, message_id, body):
        """A message that comes again has the same id: it is kept once."""
        with self.lock:
            self.rows.execute(
                "insert into message (id, body) values (?, ?) on conflict do nothing", (message_id, body)
            )
        self.has_news.set()

    def work(self, handle):
        """Works on the messages, one after the other, for ever."""
        while True:
            self.has_news.clear()
            try:
                while self.work_on_next(handle):
                    pass
            except Exception:
                # The event stays in the inbox and is tried again.
                self.has_news.wait(RETRY_SECONDS)
                continue
            self.has_news.wait()

    def work_on_next(self, handle):
        with self.lock:
            row = self.rows.execute(
                "select id, body from message where is_handled = 0 order by rowid limit 1"
            ).fetchone()
        if row is None:
            return False
        event = json.loads(row[1])
        if self.is_news(event):
            handle(event)
        with self.lock:
            self.rows.execute("update message set is_handled = 1 where id = ?", (row[0],))
        return True

    def is_news(self, event):
        """A delivery that failed at first comes later than others of its resource: what is older than the
        state that is known is passed over."""
        if event["resource"]["id"] is None:
            return True
        with self.lock:
            changed = self.rows.execute(
                "insert into latest (resource_id, occurred_at) values (?, ?)"
                " on conflict (resource_id) do update set occurred_at = excluded.occurred_at"
                " where excluded.occurred_at >= latest.occurred_at",
                (event["resource"]["id"], event["occurred_at"]),
            )
        return changed.rowcount > 0


def make_server(secret, inbox, port):
    webhook = Webhook(secret)

    class Receiver(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10

        def do_POST(self):
            length = int(self.headers.get("content-length") or -1)
            if not 0 <= length <= MAX_BODY_BYTES:
                return self.answer(400)
            body = self.rfile.read(length)
            headers = {name.lower(): value for name, value in self.headers.items()}
            try:
                webhook.verify(body, headers)
            except WebhookVerificationError:
                return self.answer(400)
            inbox.keep(headers["webhook-id"], body.decode())
            return self.answer(204)

        def answer(self, status):
            self.send_response(status)
            if status != 204:
                self.send_header("content-length", "0")
                self.send_header("connection", "close")
            self.end_headers()

        def log_message(self, *_):
            pass

    return ThreadingHTTPServer(("", port), Receiver)


if __name__ == "__main__":
    kept = Inbox(os.environ.get("INBOX", "inbox.sqlite"))
    printer = threading.Thread(
        target=kept.work,
        args=(lambda event: print(event["type"], event["resource"]["id"], flush=True),),
        daemon=True,
    )
    printer.start()
    make_server(os.environ["WEBHOOK_SECRET"], kept, int(os.environ.get("PORT", "8095"))).serve_forever()
