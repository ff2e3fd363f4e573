from __future__ import annotations

import pytest

from tests.report.browser import Browser, find_browser


@pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed; CHROMIUM may name one")
def test_the_browser_notices_requests_errors_and_warnings(tmp_path):
    script = "document.documentElement.dataset.ready = 'true'; console.warn('beware'); setTimeout(() => oops(), 0)"
    path = tmp_path / "loud.html"
    path.write_text(f'<img src="http://127.0.0.1:9/x.png"><img src="data:,"><script>{script}</script>')
    browser = Browser(find_browser())
    try:
        browser.open(path)
        browser.run("new Promise((done) => setTimeout(done, 100))")
        assert browser.requests == ["http://127.0.0.1:9/x.png"]
        told = " ".join(browser.complaints)
        assert "beware" in told
        assert "oops is not defined" in told
        assert "ERR_" in told
    finally:
        browser.close()
