"""The analyzer of Presidio with a blank pipeline of spaCy, which knows a few names.

`analyzer.py` serves `POST /analyze` on a free port and prints it; `analyzer.py direct` reads a list of texts and
prints what the analyzer finds in each when it is asked directly.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import spacy
import tldextract
from presidio_analyzer import AnalyzerEngine, BatchAnalyzerEngine
from presidio_analyzer.analyzer_request import AnalyzerRequest
from presidio_analyzer.nlp_engine import SpacyNlpEngine

# The list of top-level domains that comes with the package, not one from the network.
offline = tldextract.TLDExtract(suffix_list_urls=())
tldextract.extract = offline
tldextract.tldextract.TLD_EXTRACTOR = offline

NAMES = ["Ada Lovelace", "Zoë Müller", "李小龍"]
PLACES = ["Zürich", "12 Baker Street"]


class Blank(SpacyNlpEngine):
    def __init__(self):
        super().__init__(models=[{"lang_code": "en", "model_name": "blank"}])
        pipeline = spacy.blank("en")
        ruler = pipeline.add_pipe("entity_ruler")
        ruler.add_patterns([{"label": "PERSON", "pattern": name} for name in NAMES])
        ruler.add_patterns([{"label": "GPE", "pattern": place} for place in PLACES])
        self.nlp = {"en": pipeline}

    def load(self):
        pass


engine = AnalyzerEngine(nlp_engine=Blank())


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            request = AnalyzerRequest(json.loads(body))
            texts = request.text if isinstance(request.text, list) else [request.text]
            found = BatchAnalyzerEngine(engine).analyze_iterator(
                texts=texts,
                language=request.language,
                entities=request.entities,
                score_threshold=request.score_threshold,
            )
            found = [[result.to_dict() for result in results] for results in found]
            status, answer = 200, found if isinstance(request.text, list) else found[0]
        except Exception as error:
            status, answer = 500, {"error": str(error)}
        answer = json.dumps(answer, default=str).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def direct():
    asked = json.load(sys.stdin)
    answers = []
    for text in asked["texts"]:
        found = engine.analyze(text=text, language="en", entities=asked["entities"])
        answers.append([[it.entity_type, text[: it.start], text[it.start : it.end], it.score] for it in found])
    json.dump(answers, sys.stdout)


if sys.argv[1:] == ["direct"]:
    direct()
else:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print("port", server.server_port, flush=True)
    server.serve_forever()
