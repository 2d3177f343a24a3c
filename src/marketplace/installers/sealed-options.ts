import { PLATFORM } from '../../changes/write.ts';
import type { Sealed, Vault } from '../../vault/vault.ts';
import { canonicalJson, isObject, type Json, type JsonObject, parseExact } from '../notifications/canonical-json.ts';
import { redact } from '../notifications/redaction.ts';

/** The options of an installer, as they arrive in a delivery. */
export interface BroughtOptions {
  readonly installerId: string;
  readonly sealed: Sealed;
}

/** A delivery as older versions wrote it, possibly with secrets in clear text. */
export interface OlderDelivery {
  readonly id: bigint;
  readonly notification: string;
  /** It could be understood, so it has a subject. */
  readonly isRead: boolean;
}

export interface SealedOptionsStore {
  /** The options of a bound installer; `clear` is what older versions wrote. */
  get(installerId: string): Promise<{ readonly sealed: Sealed | null; readonly clear: string | null } | undefined>;
  olderInstallers(max: number): Promise<{ readonly id: string; readonly clear: string }[]>;
  /** When it resolves, nothing is in clear text. `sealed` is null if the options were empty. */
  sealInstaller(id: string, clear: string, sealed: Sealed | null): Promise<void>;
  olderDeliveries(after: bigint, max: number): Promise<OlderDelivery[]>;
  /** The same for a delivery. Its options are kept only until it is done. */
  sealDelivery(older: OlderDelivery, notification: string, options: BroughtOptions | null): Promise<void>;
}

export type SealedOptions = ReturnType<typeof createSealedOptions>;

/** When options are first sealed, there is no organization yet, so they use the key of the deployment. */
const OWNER = PLATFORM;
const AT_ONCE = 100;

/**
 * The options that customers choose may contain their keys. They are opened only for the archive and for the operator's
 * `installer show`; nothing else has them in clear text.
 */
export function createSealedOptions(store: SealedOptionsStore, vault: Pick<Vault, 'seal' | 'open'>) {
  let after = 0n;
  let isDone = false;
  return { seal, open, sealOlder, sealDelivery };

  async function seal(installerId: string, options: JsonObject): Promise<BroughtOptions | null> {
    if (Object.keys(options).length === 0) return null;
    return { installerId, sealed: await vault.seal(OWNER, identityOf(installerId), canonicalJson(options)) };
  }

  async function open(installerId: string): Promise<JsonObject> {
    const found = await store.get(installerId);
    if (found?.sealed) {
      const opened = await vault.open(OWNER, identityOf(installerId), found.sealed);
      return parseExact(opened.toString()) as JsonObject;
    }
    return found?.clear ? (parseExact(found.clear) as JsonObject) : {};
  }

  /** Seals one batch of what older versions wrote in clear text; does nothing once it has seen everything. */
  async function sealOlder(): Promise<void> {
    if (isDone) return;
    const installers = await store.olderInstallers(AT_ONCE);
    for (const { id, clear } of installers) {
      const options = await seal(id, parseExact(clear) as JsonObject);
      await store.sealInstaller(id, clear, options?.sealed ?? null);
    }
    const deliveries = await store.olderDeliveries(after, AT_ONCE);
    for (const older of deliveries) await sealDelivery(older);
    after = deliveries.at(-1)?.id ?? after;
    isDone = installers.length < AT_ONCE && deliveries.length < AT_ONCE;
  }

  async function sealDelivery(older: OlderDelivery): Promise<void> {
    const said = parseExact(older.notification) as Json;
    if (!older.isRead) return await store.sealDelivery(older, canonicalJson(redact(said)), null);
    const binding = isObject(said) && isObject(said.binding) ? said.binding : {};
    const { options, ...rest } = binding;
    if (!isObject(options)) return;
    const sealed = await seal(String(binding.installerId), options);
    await store.sealDelivery(older, canonicalJson({ ...(said as JsonObject), binding: rest }), sealed);
  }
}

export function identityOf(installerId: string): string {
  return `installer options ${installerId}`;
}
