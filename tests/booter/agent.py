"""Acts as a machine's agent with pika: consumes one message, answers it, and prints its observations. Environment variables configure the program."""

import json
import os

import pika

uuid = os.environ["SERVER_UUID"]
request = "ur.request.%s.%s" % (uuid, os.environ["MAC"])
seen = {}

connection = pika.BlockingConnection(pika.URLParameters(os.environ["AMQP_URL"]))
channel = connection.channel()
channel.confirm_delivery()
channel.queue_declare(request, exclusive=True, auto_delete=True)
for key in ("ur.execute.%s.*" % uuid, "ur.broadcast.*.*"):
    channel.queue_bind(request, "amq.topic", key)
    channel.queue_bind(request, "amq.topic", key)
channel.basic_qos(prefetch_count=1)
for method, properties, body in channel.consume(request):
    seen["key"] = method.routing_key
    seen["type"] = properties.content_type
    seen["bytes"] = len(body)
    channel.basic_ack(method.delivery_tag)
    reply = method.routing_key.replace("ur.execute.", "ur.execute-reply.")
    # The channel confirms messages, so this raises an error if the broker refuses the message.
    channel.basic_publish("amq.topic", reply, body, pika.BasicProperties(content_type="application/json"))
    break
channel.cancel()

own = channel.queue_declare("", exclusive=True).method.queue
channel.basic_publish("", own, b"to myself")
_, _, body = channel.basic_get(own, auto_ack=True)
seen["own"] = body.decode()
seen["empty"] = channel.basic_get(own)[0] is None
channel.queue_delete(own)
try:
    channel.queue_bind(request, "amq.topic", "#")
except pika.exceptions.ChannelClosedByBroker as error:
    seen["refused"] = error.reply_code
connection.close()
print(json.dumps(seen))
