import base64
import hashlib
import hmac
import json
import time
import unittest

from moderato import BanEvent, WebhookVerificationError, verify_webhook

SECRET = "whsec_" + base64.b64encode(b"a key of thirty-two random bytes").decode()
OTHER = "whsec_" + base64.b64encode(b"another key").decode()
BODY = json.dumps(
    {
        "metadata": {"subscriptionType": "channel.ban", "messageId": "an id"},
        "payload": {"bannedUserDisplayName": "Zoë", "bannedAt": "2026-11-20T12:00:00.000Z"},
    }
).encode()


def delivery(secret=SECRET, *, id="an id", offset=0, **headers):
    at = int(time.time()) + offset
    key = base64.b64decode(secret[len("whsec_") :])
    digest = hmac.new(key, f"{id}.{at}.".encode() + BODY, hashlib.sha256).digest()
    given = {
        "Webhook-Id": "an id",
        "Webhook-Timestamp": str(at),
        "Webhook-Signature": "v1," + base64.b64encode(digest).decode(),
        "Moderato-Cursor": "a cursor",
    }
    return {**given, **{name.replace("_", "-"): value for name, value in headers.items()}}


class Webhooks(unittest.TestCase):
    def test_a_delivery_is_verified(self):
        event = verify_webhook(BODY, delivery(), SECRET)
        self.assertEqual((event.type, event.cursor), ("channel.ban", "a cursor"))
        self.assertIsInstance(event.payload, BanEvent)
        self.assertEqual(event.payload.banned_user_display_name, "Zoë")
        self.assertEqual(event.payload.banned_at.isoformat(), "2026-11-20T12:00:00+00:00")

    def test_one_of_several_signatures_and_secrets_is_enough(self):
        signature = delivery()["Webhook-Signature"]
        verify_webhook(BODY, delivery(Webhook_Signature="v1,bm9uZQ== " + signature), SECRET)
        verify_webhook(BODY, delivery(), [OTHER, SECRET])

    def test_what_is_not_authentic_is_refused(self):
        for name, headers, body, tolerance in [
            ("another key", delivery(OTHER), BODY, 300),
            ("another body", delivery(), BODY + b" ", 300),
            ("another id", delivery(id="another id"), BODY, 300),
            ("no base64", delivery(Webhook_Signature="v1,%%%"), BODY, 300),
            ("no ASCII", delivery(Webhook_Signature="v1,é"), BODY, 300),
            ("an old delivery", delivery(offset=-400), BODY, 300),
            ("a delivery of the future", delivery(offset=400), BODY, 300),
            ("another tolerance", delivery(offset=-20), BODY, 10),
            ("no time", delivery(Webhook_Timestamp=""), BODY, 300),
            ("a digit of another script", delivery(Webhook_Timestamp="²"), BODY, 300),
            ("a time of 400 digits", delivery(Webhook_Timestamp="9" * 400), BODY, 300),
            ("a missing header", {"webhook-id": "an id"}, BODY, 300),
        ]:
            with self.subTest(name), self.assertRaises(WebhookVerificationError):
                verify_webhook(body, headers, SECRET, tolerance=tolerance)

    def test_an_empty_secret_is_a_mistake(self):
        for secret in ["", "whsec_"]:
            with self.assertRaises(ValueError):
                verify_webhook(BODY, delivery(), secret)
