/**
 * Sends a request by XMLHttpRequest: it alone tells how much of a body is on its way.
 * @param onProgress gets the share that was sent, 0 to 1
 */
export function sendTellingProgress(onProgress: (share: number) => void) {
  return async (request: Request): Promise<Response> => {
    const body = await request.blob();
    request.signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const sender = new XMLHttpRequest();
      sender.open(request.method, request.url);
      for (const [name, value] of request.headers) sender.setRequestHeader(name, value);
      sender.upload.addEventListener("progress", ({ loaded, total }) => {
        if (total > 0) onProgress(loaded / total);
      });
      sender.addEventListener("load", () => resolve(responseOf(sender)));
      // As fetch does, so that the client knows a connection that broke.
      sender.addEventListener("error", () => reject(new TypeError("The connection broke off.")));
      sender.addEventListener("abort", () => reject(request.signal.reason as Error));
      request.signal.addEventListener("abort", () => sender.abort(), { once: true });
      sender.send(body);
    });
  };
}

function responseOf(sender: XMLHttpRequest): Response {
  const headers = new Headers();
  for (const line of sender.getAllResponseHeaders().trim().split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const hasBody = sender.status !== 204 && sender.status !== 304;
  return new Response(hasBody ? sender.responseText : null, { status: sender.status, headers });
}
