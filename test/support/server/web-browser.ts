/** A response, and the addresses that led to it. */
export interface Visit {
  readonly status: number;
  readonly url: string;
  readonly headers: Headers;
  readonly text: string;
  readonly trail: readonly string[];
}

const MAX_REDIRECTS = 15;

/** As much of a browser as a sign-in needs: it keeps the cookies of each server, and follows redirects. */
export function openWebBrowser() {
  const jars = new Map<string, Map<string, string>>();
  return { visit, submit, send, cookies };

  /** Follows redirects, but not to an address that `until` recognizes. */
  async function visit(address: string, until: (url: URL) => boolean = () => false): Promise<Visit> {
    return await follow(address, until, (url) => send('GET', url));
  }

  /** Sends a form, and follows what comes of it. */
  async function submit(address: string, fields: Readonly<Record<string, string>>): Promise<Visit> {
    let isSent = false;
    return await follow(
      address,
      () => false,
      (url) => {
        const [method, body] = isSent ? ['GET'] : ['POST', new URLSearchParams(fields)];
        isSent = true;
        return send(String(method), url, body);
      },
    );
  }

  async function follow(
    address: string,
    until: (url: URL) => boolean,
    step: (url: string) => Promise<Response>,
  ): Promise<Visit> {
    const trail: string[] = [];
    let url = new URL(address);
    for (;;) {
      trail.push(url.href);
      const answer = await step(url.href);
      const location = answer.headers.get('location');
      if (answer.status < 300 || answer.status >= 400 || location === null) {
        return { status: answer.status, url: url.href, headers: answer.headers, text: await answer.text(), trail };
      }
      await answer.arrayBuffer();
      url = new URL(location, url);
      if (until(url)) return { status: answer.status, url: url.href, headers: answer.headers, text: '', trail };
      if (trail.length > MAX_REDIRECTS) throw new Error(`too many redirects: ${trail.join('\n')}`);
    }
  }

  async function send(method: string, address: string, body?: unknown, more: Record<string, string> = {}) {
    const { host } = new URL(address);
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    const isForm = body instanceof URLSearchParams;
    const answer = await fetch(address, {
      method,
      redirect: 'manual',
      headers: {
        'User-Agent': 'test browser',
        ...(jar.size > 0 && { Cookie: cookies(host) }),
        ...(body !== undefined && !isForm && { 'Content-Type': 'application/json' }),
        ...more,
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
      const isGone = attributes.some((one) => /^max-age=0$/i.test(one) || /^expires=Thu, 01 Jan 1970/i.test(one));
      if (isGone) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  }

  /** The Cookie header for a server. */
  function cookies(host: string): string {
    return [...(jars.get(host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

export type WebBrowser = ReturnType<typeof openWebBrowser>;
