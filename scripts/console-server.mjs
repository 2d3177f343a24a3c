// Serves the sources of the web console for development, and passes API calls on to a running server.
import { createServer } from 'vite';
import { consoleConfig } from './console-config.mjs';

const server = await createServer({ ...consoleConfig('dist'), logLevel: 'info' });
await server.listen();
server.printUrls();
