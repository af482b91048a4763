"""A tool over HTTP: `POST /pay` books an amount, once a key, and answers with the total. Argument: the port."""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

booked = {}


class Pay(BaseHTTPRequestHandler):
    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        booked.setdefault(self.headers["Idempotency-Key"], call["amount"])
        answer = json.dumps({"booked": call["amount"], "total": sum(booked.values())}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Pay)
print(server.server_port, flush=True)
server.serve_forever()
