// Search of the site without a server: a browser starts no worker from a file, so the script of the
// worker runs in a hidden frame instead. The generator would fetch such a script from another host.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.onmessage = null;
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "Search";
      this.frame.srcdoc = "<!doctype html>";
      this.frame.addEventListener("load", () => this.start(new URL(address, document.baseURI)), {
        once: true,
      });
      document.documentElement.append(this.frame);
    }

    start(address) {
      const inside = this.frame.contentWindow;
      // A message arrives later, as between threads: an answer within a question would ask again.
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data: structuredClone(data) });
        setTimeout(() => {
          this.dispatchEvent(event);
          this.onmessage?.(event);
        });
      };
      const script = inside.document.createElement("script");
      script.addEventListener("load", () => {
        const waiting = this.waiting;
        this.waiting = null;
        for (const data of waiting) this.postMessage(data);
      });
      script.addEventListener("error", () => this.onerror?.(new ErrorEvent("error")));
      script.src = address.href;
      inside.document.head.append(script);
    }

    postMessage(data) {
      if (this.waiting) {
        this.waiting.push(data);
        return;
      }
      const event = new MessageEvent("message", { data: structuredClone(data) });
      setTimeout(() => this.frame?.contentWindow.dispatchEvent(event));
    }

    terminate() {
      this.frame?.remove();
      this.frame = null;
    }
  };
}
