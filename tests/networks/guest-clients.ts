// Contains Python programs that run in a guest as clients of a router's services.

const DHCP_PARTS = `
import json, os, socket, struct, sys
mac = bytes.fromhex(sys.argv[1].replace(":", ""))
chaddr = bytes.fromhex((sys.argv[2] if len(sys.argv) > 2 else sys.argv[1]).replace(":", ""))
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x800))
wire.bind(("eth0", 0x800)); wire.settimeout(2)
def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total >> 16) + (total & 65535)
    return ~(total + (total >> 16)) & 65535
def send(options, own="0.0.0.0"):
    source = socket.inet_aton(own)
    body = struct.pack("!BBBBIHH", 1, 1, 6, 0, 77, 0, 0x8000) + source + bytes(12) + chaddr + bytes(10 + 192)
    body += bytes([99, 130, 83, 99]) + options + b"\\xff"
    udp = struct.pack("!HHHH", 68, 67, 8 + len(body), 0) + body
    head = struct.pack("!BBHHHBBH4s4s", 69, 0, 20 + len(udp), 1, 0, 64, 17, 0, source, b"\\xff" * 4)
    wire.send(b"\\xff" * 6 + mac + b"\\x08\\0" + head[:10] + struct.pack("!H", checksum(head)) + head[12:] + udp)
def receive():
    while True:
        frame = wire.recv(2048)
        if frame[23] == 17 and frame[36:38] == b"\\0\\x44" and frame[42] == 2:
            packet, options, at = frame[42:], {}, 240
            while packet[at] != 255:
                options[packet[at]] = list(packet[at + 2:at + 2 + packet[at + 1]])
                at += 2 + packet[at + 1]
            return socket.inet_ntoa(packet[16:20]), options
`;

/**
 * Requests a lease by DHCP, like a guest without an address, and then a lease of a wrong address. Prints JSON: the
 * types of the answers, and the address and options of the lease. Prints null if an answer is missing.
 */
export const DHCP_CLIENT = `${DHCP_PARTS}
try:
    send(bytes([53, 1, 1]))
    address, offer = receive()
    send(bytes([53, 1, 3, 50, 4]) + socket.inet_aton(address) + bytes([54, 4] + offer[54]))
    _, ack = receive()
    send(bytes([53, 1, 3, 50, 4, 10, 0, 9, 9]))
    _, nak = receive()
    print(json.dumps({"address": address, "types": [offer[53][0], ack[53][0], nak[53][0]], "options": ack}))
except TimeoutError:
    print("null")
`;

/**
 * Asks all servers to extend the lease of the guest's address, like a guest in the state REBINDING (RFC 2131, 4.3.2).
 * Prints JSON: the answer's type and address, or null without an answer. The third argument is the guest's address.
 */
export const DHCP_REBINDING_CLIENT = `${DHCP_PARTS}
try:
    send(bytes([53, 1, 3]), sys.argv[3])
    address, ack = receive()
    print(json.dumps({"address": address, "type": ack[53][0]}))
except TimeoutError:
    print("null")
`;

/**
 * Sends three DHCPv6 messages: a solicit, a request for an address that no guest has, and a confirm for that address.
 * Prints the types and contents of the answers as JSON.
 */
export const DHCP6_CLIENT = `
import json, socket, struct, sys
device = socket.if_nametoindex("eth0")
peer = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); peer.settimeout(2); peer.bind(("::", 546))
option = lambda code, value: struct.pack("!HH", code, len(value)) + value
client = option(1, b"\\0\\3\\0\\1" + bytes.fromhex(sys.argv[1].replace(":", "")))
address = lambda text: option(5, socket.inet_pton(socket.AF_INET6, text) + bytes(8))
asks = lambda inner=b"": option(3, b"\\0\\0\\0\\7" + bytes(8) + inner)
def parse(data):
    found, at = {}, 0
    while at + 4 <= len(data):
        code, length = struct.unpack("!HH", data[at:at + 4])
        found.setdefault(code, []).append(data[at + 4:at + 4 + length])
        at += 4 + length
    return found
def ask(kind, *options):
    peer.sendto(bytes([kind, 1, 2, 3]) + client + b"".join(options), ("ff02::1:2", 547, 0, device))
    answer, source = peer.recvfrom(2048)
    assert answer[1:4] == bytes([1, 2, 3]), answer
    return answer[0], parse(answer[4:]), source[0].split("%")[0]
try:
    first, offer, router = ask(1, asks())
    server = option(2, offer[2][0])
    second, reply, _ = ask(3, server, asks(address("fd00:a:9::9")))
    third, confirm, _ = ask(4, asks(address("fd00:a:9::9")))
    lease = reply[3][0]
    addresses = [(socket.inet_ntop(socket.AF_INET6, each[:16]), struct.unpack("!I", each[20:24])[0])
                 for each in parse(lease[12:])[5]]
    print(json.dumps({"types": [first, second, third], "router": router, "addresses": addresses,
        "dns": socket.inet_ntop(socket.AF_INET6, reply[23][0]), "confirm": confirm[13][0][1]}))
except TimeoutError:
    print("null")
`;

/**
 * Arguments: SERVER NAME TYPE TRANSPORT. Asks a DNS question, by UDP or TCP. Prints JSON: the code and the answers.
 */
export const DNS_CLIENT = `
import json, socket, struct, sys
server, name, kind, transport = sys.argv[1:5]
types = {"A": 1, "PTR": 12, "TXT": 16, "AAAA": 28}
query = struct.pack("!HHHHHH", 4711, 256, 1, 0, 0, 0)
query += b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + struct.pack("!BHH", 0, types[kind], 1)
family = socket.AF_INET6 if ":" in server else socket.AF_INET
try:
    if transport == "tcp":
        peer = socket.create_connection((server, 53), timeout=5)
        # In two parts, as a slow network may deliver it.
        peer.sendall(struct.pack("!H", len(query)) + query[:5]); peer.sendall(query[5:])
        answer = peer.recv(4096)[2:]
    else:
        peer = socket.socket(family, socket.SOCK_DGRAM); peer.settimeout(5); peer.connect((server, 53))
        peer.send(query); answer = peer.recv(4096)
    count, at, found = struct.unpack("!H", answer[6:8])[0], len(query), []
    for _ in range(count):
        length = struct.unpack("!H", answer[at + 10:at + 12])[0]
        data = answer[at + 12:at + 12 + length]
        parts, part = [], 0
        while kind in ("PTR", "TXT") and part < length:
            parts.append(data[part + 1:part + 1 + data[part]].decode()); part += 1 + data[part]
        found.append("".join(parts) if kind == "TXT" else ".".join(parts).rstrip(".") if kind == "PTR" else
            socket.inet_ntop(socket.AF_INET if length == 4 else socket.AF_INET6, data))
        at += 12 + length
    print(json.dumps({"code": answer[3] & 15, "found": found, **({"truncated": True} if answer[2] & 2 else {})}))
except OSError as error:
    print(json.dumps({"error": str(error)}))
`;

/**
 * Arguments: SERVER NAME. Asks by TCP for the IPv4 and IPv6 addresses of a name, and sends both queries in one segment.
 * Prints the ids and codes of the answers as JSON.
 */
export const DNS_PAIR_CLIENT = `
import json, socket, struct, sys
server, name = sys.argv[1:3]
labels = b"".join(bytes([len(p)]) + p.encode() for p in name.split("."))
query = lambda number, kind: struct.pack("!HHHHHH", number, 256, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, kind, 1)
framed = lambda message: struct.pack("!H", len(message)) + message
peer = socket.create_connection((server, 53), timeout=5)
peer.sendall(framed(query(1, 1)) + framed(query(2, 28)))
stream, answers = peer.makefile("rb"), []
try:
    while len(answers) < 2:
        answer = stream.read(struct.unpack("!H", stream.read(2))[0])
        answers.append([answer[1], answer[3] & 15])
except TimeoutError:
    pass
print(json.dumps(sorted(answers)))
`;

/**
 * Arguments: SERVER PORT COUNT. Opens COUNT connections, or fewer if one times out, and sends nothing. Prints as JSON
 * how many are open after 3 s (`first`), and after 13 s more (`later`).
 */
export const CROWD_CLIENT = `
import json, select, socket, sys, time
server, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
opened, ended = [], set()
def wait(seconds):
    until = time.monotonic() + seconds
    while len(ended) < len(opened) and time.monotonic() < until:
        ended.update(select.select([peer for peer in opened if peer not in ended], [], [], 0.2)[0])
    return len(opened) - len(ended)
for _ in range(count):
    try:
        opened.append(socket.create_connection((server, port), timeout=0.9))
    except ConnectionResetError:
        pass
    except TimeoutError:
        break
print(json.dumps({"first": wait(3), "later": wait(13)}))
`;

/**
 * Arguments: SERVER NAME COUNT. Asks a question COUNT times on one TCP connection, and reads after a second. Prints
 * JSON: the number of different answers, or the error that ended the connection.
 */
export const SLOW_DNS_CLIENT = `
import json, socket, struct, sys, threading, time
server, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
labels = b"".join(bytes([len(p)]) + p.encode() for p in name.split("."))
def query(number):
    message = struct.pack("!HHHHHH", number, 256, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, 1, 1)
    return struct.pack("!H", len(message)) + message
peer = socket.socket()
peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
peer.settimeout(8); peer.connect((server, 53))
try:
    peer.sendall(b"".join(query(number % 65536) for number in range(count)))
    time.sleep(1)
    stream, answers = peer.makefile("rb"), set()
    for _ in range(count):
        answer = stream.read(struct.unpack("!H", stream.read(2))[0])
        answers.add(struct.unpack("!H", answer[:2])[0])
    print(json.dumps({"answers": len(answers)}))
except (OSError, struct.error) as error:
    print(json.dumps({"error": type(error).__name__}))
`;

/** Arguments: ADDRESS CONFIGURATION. Runs dnsmasq. Prints `ready` when dnsmasq accepts connections. */
export const DNSMASQ = `
import socket, subprocess, sys, time
address, configuration = sys.argv[1:3]
words = ["dnsmasq", "--no-daemon", "--no-resolv", "--no-hosts", "--bind-interfaces"]
child = subprocess.Popen([*words, "--conf-file=-", "--pid-file=", "--listen-address=" + address],
    stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
child.stdin.write(configuration.encode()); child.stdin.close()
while True:
    try:
        socket.create_connection((address, 53), timeout=5).close()
        break
    except OSError:
        if child.poll() is not None: sys.exit("dnsmasq ended")
        time.sleep(0.05)
print("ready")
child.wait()
`;

/** A DNS server that answers every question with 192.0.2.53, by UDP and TCP. */
export const DNS_SERVER = `
import socket, struct, sys, threading
def answer(query):
    return query[:2] + b"\\x81\\x80\\0\\1\\0\\1\\0\\0\\0\\0" + query[12:] + b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\1\\0\\4\\xc0\\0\\2\\x35"
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); udp.bind((sys.argv[1], 53))
tcp = socket.create_server((sys.argv[1], 53))
def serve():
    while True:
        peer, _ = tcp.accept()
        query = peer.recv(4096)[2:]
        peer.sendall(struct.pack("!H", len(answer(query))) + answer(query)); peer.close()
threading.Thread(target=serve, daemon=True).start()
print("ready")
while True:
    query, peer = udp.recvfrom(4096)
    udp.sendto(answer(query), peer)
`;
