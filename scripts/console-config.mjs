import { join } from 'node:path';

/** The server that development builds talk to. */
const SERVER = process.env.ATRIUM_URL ?? 'http://127.0.0.1:3000';
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M16 3 29 28H22.5L16 15 9.5 28H3z" fill="#a8481f"/></svg>';

/** The order in which style sheets are bundled must not decide which rule wins. */
const LAYERS = '@layer base,parts,shell,pages;';
/** Larger than everything else together, so only the pages that edit text load it. */
const EDITOR = {
  name: 'editor',
  // With the part that uses it: in the shared file, it would make every page load the editor.
  test: /[\\/](node_modules[\\/](@codemirror|@lezer|@marijn|crelt|style-mod|w3c-keyname)[\\/]|console[\\/]src[\\/]pages[\\/]roles[\\/]code-editor)/,
  priority: 1,
};
/** Only the pages of the audit log verify it. */
const AUDIT_CHAIN = { name: 'audit-chain', test: /[\\/]client[\\/]audit-chain/, priority: 3 };
/** What every page needs, together with the entry. What the shell opens on demand is loaded then. */
const FRAME = {
  name: 'index',
  test: /[\\/](console[\\/]src[\\/](main\.tsx|shell[\\/](?!(account|administration|organization)-pages|palette|asked-sentence|keys-dialog|api-drawer|org-switcher)|data[\\/](?!passkey|draft)|parts[\\/](?!impact|expiry|session-table|token-table|user-picker|token-scopes|token-lifetime|rotate-token|secret|heartbeat)|icons[\\/])|client[\\/])/,
  priority: 2,
};
/** Only the pages that change who may do what need it. After the frame, because a group takes what it imports along. */
const ACCESS_CHANGES = {
  name: 'access-changes',
  test: /[\\/]console[\\/]src[\\/](parts[\\/](impact|expiry)|pages[\\/](assignments[\\/]|members[\\/](member-access|remove-member)))/,
  priority: 1,
};
/** Only the pages that explain access, or ask for it, need it. */
const ACCESS_ANSWERS = {
  name: 'access-answers',
  test: /[\\/]console[\\/]src[\\/]pages[\\/](requests[\\/](ask-form|request-words|request-table)|access[\\/](paths|proof|remedies|as-of|object-picker|relation-field|access-tabs|time-strip))/,
  priority: 1,
};
/** Every page can ask to sign in again, so what signing in needs must not bring along what only some pages share. */
const SIGN_IN = {
  name: 'sign-in',
  test: /[\\/]console[\\/]src[\\/](pages[\\/]doors[\\/](sign-in-form|provider-buttons)|data[\\/]passkey)/,
  priority: 1,
};
/** Only where a second factor is added. */
const FACTORS = {
  name: 'factors',
  test: /[\\/]console[\\/]src[\\/]pages[\\/]factors[\\/](add-app|add-passkey|recovery-codes)/,
  priority: 1,
};
/** Also for pages that change no access, so it is not with what changes it. */
const USER_PICKER = { name: 'user-picker', test: /[\\/]console[\\/]src[\\/]parts[\\/]user-picker/, priority: 2 };
/** Only the pages that list or create tokens need it. */
const TOKENS = {
  name: 'tokens',
  test: /[\\/]console[\\/]src[\\/]parts[\\/](token-table|token-scopes|token-lifetime|rotate-token|secret|heartbeat)/,
  priority: 1,
};
/** Only the two pages that list sessions need it. */
const SESSIONS = { name: 'sessions', test: /[\\/]console[\\/]src[\\/]parts[\\/]session-table/, priority: 1 };
/** Only the pages of access reviews need it. */
const REVIEWS = { name: 'reviews', test: /[\\/]console[\\/]src[\\/]pages[\\/]reviews[\\/]review-words/, priority: 1 };
/** Only the three audit logs need it. */
const AUDIT = { name: 'audit', test: /[\\/]console[\\/]src[\\/]pages[\\/]audit[\\/](?!org-audit)/, priority: 1 };
/** Only the pages of the marketplace need it. */
const MARKETPLACE = {
  name: 'marketplace-parts',
  test: /[\\/]console[\\/]src[\\/]pages[\\/]marketplace[\\/](marketplace-words|timeline|installers|new-installer|redeliver\.)/,
  priority: 1,
};
/** Only the pages of one's own credentials need it. */
const CREDENTIALS = {
  name: 'credentials-parts',
  test: /[\\/]console[\\/]src[\\/]pages[\\/]me[\\/]credential/,
  priority: 1,
};
const SHARED = { name: 'shared', minShareCount: 2 };

/** How the web console is built. */
export function consoleConfig(outDir) {
  return {
    configFile: false,
    logLevel: 'warn',
    root: join(import.meta.dirname, '..', 'console'),
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      target: 'es2024',
      outDir,
      emptyOutDir: true,
      // A page needs at most one more file than its own. Its polyfill would be an inline script, which the policy forbids.
      modulePreload: false,
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      // Few requests: one style sheet, one file for the frame and its parts, one for whatever else two pages share.
      cssCodeSplit: false,
      rolldownOptions: {
        output: {
          codeSplitting: {
            groups: [
              EDITOR,
              AUDIT_CHAIN,
              FRAME,
              USER_PICKER,
              ACCESS_CHANGES,
              ACCESS_ANSWERS,
              SESSIONS,
              REVIEWS,
              SIGN_IN,
              FACTORS,
              TOKENS,
              AUDIT,
              MARKETPLACE,
              CREDENTIALS,
              SHARED,
            ],
          },
        },
      },
    },
    plugins: [
      {
        name: 'icon-and-layers',
        enforce: 'post',
        generateBundle(_options, bundle) {
          this.emitFile({ type: 'asset', fileName: 'assets/icon.svg', source: ICON });
          for (const file of Object.values(bundle)) {
            if (file.fileName.endsWith('.css')) file.source = LAYERS + String(file.source);
          }
        },
      },
    ],
    server: { port: 5173, strictPort: true, proxy: { '/api': SERVER, '/avatars': SERVER } },
  };
}
