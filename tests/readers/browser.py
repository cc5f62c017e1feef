"""Released pages and drawings in a real browser: no script runs, no dialog opens, nothing is asked of any host."""
import http.server
import threading


class Site:
    """Serves released files without the headers that would protect them: what is proven is the file."""

    def __init__(self):
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                file = site.files.get(self.path)
                if file is None:
                    if self.path != "/favicon.ico":
                        site.strays.append(f"{self.headers.get('Host')}{self.path}")
                    self.send_error(404)
                    return
                mime, data = file
                self.send_response(200)
                self.send_header("Content-Type", mime)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.files, self.strays = {}, []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


# What a browser would run or load, looked for in the document it built.
LOOK = """
const all = [...document.querySelectorAll('*')];
const handlers = all.filter(e => [...e.attributes].some(a => /^on/i.test(a.name))).length;
const links = all.filter(e => [...e.attributes].some(a => /^\\s*(javascript|vbscript|data:text)/i.test(a.value))).length;
const active = document.querySelectorAll('script,iframe,object,embed,frame,base,meta[http-equiv],foreignObject').length;
return [handlers, links, active, performance.getEntriesByType('resource').filter(e => !e.name.startsWith('data:')).map(e => e.name)];
"""


def faults(files):
    """What goes wrong with (path, media type, bytes): a list of words."""
    from selenium import webdriver
    from selenium.common.exceptions import UnexpectedAlertPresentException, WebDriverException
    from selenium.webdriver.chrome.service import Service

    site = Site()
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        f"--host-resolver-rules=MAP * 127.0.0.1:{site.port}",
    ):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.set_page_load_timeout(20)
    found = []
    try:
        for number, (path, mime, data) in enumerate(files):
            at = f"/{number}"
            site.files, site.strays[:] = {at: (mime, data)}, []
            try:
                driver.get(f"http://released.test:{site.port}{at}")
                handlers, links, active, loads = driver.execute_script(LOOK)
                loads = [load for load in loads if not load.endswith("/favicon.ico")]
                if handlers or links or active or loads or site.strays:
                    found.append(f"{path}: {handlers} handlers, {links} links, {active} elements, {loads + site.strays}")
            except UnexpectedAlertPresentException:
                found.append(f"{path}: a dialog opened")
            except WebDriverException as error:
                found.append(f"{path}: {str(error).splitlines()[0]}")
    finally:
        driver.quit()
    return found
