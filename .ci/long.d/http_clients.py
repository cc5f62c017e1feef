"""Python clients and a browser before the service. Run by http-clients."""

import asyncio
import json
import os
import pathlib
import tempfile

import httpx
import jsonschema
import requests
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

BASE = "http://" + os.environ["ADDRESS"]
ADMIN = "http://" + os.environ["ADMIN"]
WANT = os.environ["WANT"]
POISONED = pathlib.Path("examples/poisoned.json").read_bytes()
QUERY = {"audience": "page,model", "name": "poisoned.json"}
SCHEMA = json.loads(pathlib.Path("docs/schema/verdict.json").read_text())


def same(what, answer):
    assert answer.status_code == 200, (what, answer.status_code, answer.text)
    assert answer.text == WANT, (what, answer.text[:500])
    jsonschema.validate(answer.json(), SCHEMA)
    print("same verdict:", what)


def with_requests():
    def pieces():
        for start in range(0, len(POISONED), 100):
            yield POISONED[start:start + 100]

    with requests.Session() as session:
        same("requests, streamed", session.post(BASE + "/v1/scan", params=QUERY, data=pieces(), timeout=30))
        with open("examples/poisoned.json", "rb") as body:
            same("requests, a file", session.post(BASE + "/v1/scan", params=QUERY, data=body, timeout=30))
        files = {"input": ("poisoned.json", POISONED, "application/json")}
        same("requests, multipart", session.post(BASE + "/v1/scan", params={"audience": "page,model"}, files=files, timeout=30))
        run = [
            ("stdout", (None, b"3 rows\n")),
            ("meta", (None, json.dumps({"exit_code": 0}))),
            ("file", ("naïve \"x\".csv", b"a,b\n1,2\n", "text/csv")),
            ("file", ("b.txt", b"hello")),
        ]
        answer = session.post(BASE + "/v1/scan", params={"audience": "page"}, files=run, timeout=30)
        answer.raise_for_status()
        names = [artifact["name"] for artifact in answer.json()["artifacts"] if artifact["origin"] == "file"]
        assert names == ["naïve \"x\".csv", "b.txt"], names
        # Who sends too much gets to read why, although it writes before it reads.
        answer = session.post(BASE + "/v1/scan", params=QUERY, data=b"a" * (65 << 20), timeout=60)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large"), answer.text
        answer = session.post(BASE + "/v1/scan", data=b"x", timeout=30)
        assert answer.json()["detail"] == "audience is required: page, terminal, model or download", answer.text
        print("requests: errors are read")


async def with_http2():
    async with httpx.AsyncClient(http1=False, http2=True, base_url=BASE, timeout=60) as client:
        answer = await client.post("/v1/scan", params=QUERY, content=POISONED)
        assert answer.http_version == "HTTP/2", answer.http_version
        same("httpx, HTTP/2", answer)
        many = [client.post("/v1/scan", params={"audience": "page"}, content=f"line {number}\n") for number in range(50)]
        statuses = [answer.status_code for answer in await asyncio.gather(*many)]
        assert set(statuses) <= {200, 503} and statuses.count(200) > 10, statuses
        print("httpx: 50 streams at once,", statuses.count(200), "verdicts")

        async def pieces():
            # In pieces: the client copies what is left of one large body for every frame.
            for _ in range(65 << 4):
                yield b"a" * (64 << 10)

        answer = await client.post("/v1/scan", params=QUERY, content=pieces())
        assert answer.status_code == 413, answer.text


DROP = """
const [name, text, done] = arguments;
const dropped = new DataTransfer();
dropped.items.add(new File([text], name, { type: "text/html" }));
document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
done();
"""


def with_chromium():
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    try:
        driver.get(BASE + "/docs")
        wait = WebDriverWait(driver, 30)
        wait.until(lambda page: len(page.find_elements(By.CSS_SELECTOR, "#policy option")) == 4)

        def verdict():
            return wait.until(lambda page: [e for e in page.find_elements(By.CSS_SELECTOR, "#verdict .decision") if e.text])[0]

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "poisoned.json")
            path.write_bytes(POISONED)
            driver.find_element(By.ID, "file").send_keys(str(path))
            assert verdict().text == json.loads(WANT)["decision"].upper(), verdict().text
            shown = driver.find_element(By.ID, "verdict").text
            for audience in ("page", "terminal", "model", "download"):
                assert audience in shown, shown
            assert "What was found" in shown, shown
        # A dropped file, whose name and content would act if either became markup.
        driver.execute_script("document.getElementById('verdict').replaceChildren()")
        hostile = "<img src=x onerror=document.title='owned'>"
        driver.execute_async_script(DROP, hostile + ".html", "<script>document.title='owned'</script>" + hostile)
        verdict()
        assert driver.title == "scanner", driver.title
        assert not driver.find_elements(By.CSS_SELECTOR, "#verdict img, #verdict script")
        # Nothing was refused by the page's own policy, and nothing came from elsewhere.
        log = [entry for entry in driver.get_log("browser") if entry["level"] in ("WARNING", "SEVERE") and "favicon" not in entry["message"]]
        assert not log, log
        loaded = driver.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
        assert all(name.startswith(BASE + "/") for name in loaded), loaded
        # An error is read, too.
        for box in driver.find_elements(By.CSS_SELECTOR, "input[name=audience]"):
            box.click()
        driver.execute_async_script(DROP, "a.txt", "hello")
        wait.until(lambda page: "bad_request" in page.find_element(By.ID, "verdict").text.lower())
        print("chromium: a file was dropped on /docs and its verdict read")
    finally:
        driver.quit()


with_requests()
asyncio.run(with_http2())
with_chromium()
metrics = requests.get(ADMIN + "/metrics", timeout=10).text
assert 'scanner_worker_deaths_total{' not in metrics, metrics
