import { createServer, type Socket } from 'node:net';

export interface SmtpServer {
  readonly url: string;
  /** Every email that was submitted: sender, recipients, and its lines. */
  readonly letters: readonly { from: string; to: string[]; text: string }[];
  close(): Promise<void>;
}

/**
 * A small mail server that accepts any email. With `refuse` it rejects all, with `silent` it never answers, with
 * `chatty` its greeting never ends, and with `slow` its greeting comes line by line, without an end.
 */
export async function startSmtp(mood: 'kind' | 'refuse' | 'silent' | 'chatty' | 'slow' = 'kind'): Promise<SmtpServer> {
  const letters: { from: string; to: string[]; text: string }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    if (mood === 'chatty') chat(socket);
    else if (mood === 'slow') drip(socket);
    else if (mood !== 'silent') converse(socket);
  });

  function chat(socket: Socket): void {
    const more = () => {
      while (!socket.destroyed && socket.write('220-and another thing\r\n'.repeat(1000)));
    };
    socket.on('drain', more);
    more();
  }

  function drip(socket: Socket): void {
    const timer = setInterval(() => socket.write('220-one moment\r\n'), 10);
    socket.once('close', () => clearInterval(timer));
  }

  function converse(socket: Socket): void {
    const say = (line: string) => socket.write(`${line}\r\n`);
    let letter = { from: '', to: [] as string[], text: '' };
    let isText = false;
    let rest = '';
    say('220 atrium.test');
    socket.on('data', (chunk) => {
      rest += chunk.toString('utf8');
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        hear(rest.slice(0, end));
        rest = rest.slice(end + 2);
      }
    });

    function hear(line: string): void {
      if (isText) {
        if (line !== '.') letter.text += `${line.replace(/^\.\./, '.')}\n`;
        else {
          isText = false;
          letters.push(letter);
          letter = { from: '', to: [], text: '' };
          say('250 taken');
        }
        return;
      }
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'MAIL') letter.from = /<([^>]*)>/.exec(line)?.[1] ?? '';
      if (verb === 'RCPT' && mood === 'refuse') return void say('550 no such person');
      if (verb === 'RCPT') letter.to.push(/<([^>]*)>/.exec(line)?.[1] ?? '');
      if (verb === 'DATA') isText = true;
      say(verb === 'DATA' ? '354 go on' : verb === 'QUIT' ? '221 bye' : '250 ok');
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `smtp://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    letters,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
