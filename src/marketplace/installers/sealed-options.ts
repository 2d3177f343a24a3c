import { PLATFORM } from '../../changes/write.ts';
import type { Sealed, Vault } from '../../vault/vault.ts';
import { canonicalJson, isObject, type Json, type JsonObject, parseExact } from '../notifications/canonical-json.ts';
import { outlineOf } from '../notifications/redaction.ts';

/** The options of an installer as a delivery brings them. */
export interface BroughtOptions {
  readonly installerId: string;
  readonly sealed: Sealed;
}

/** A delivery as older versions wrote it, maybe with something in clear. */
export interface OlderDelivery {
  readonly id: bigint;
  readonly notification: string;
  /** It could be understood, and so has a subject. */
  readonly isRead: boolean;
}

export interface SealedOptionsStore {
  /** Of an installer that is bound; `clear` is what older versions wrote. */
  get(installerId: string): Promise<{ readonly sealed: Sealed | null; readonly clear: string | null } | undefined>;
  olderInstallers(most: number): Promise<{ readonly id: string; readonly clear: string }[]>;
  /** Nothing is in clear when it resolves; null: there was nothing in it. */
  sealInstaller(id: string, clear: string, sealed: Sealed | null): Promise<void>;
  olderDeliveries(after: bigint, most: number): Promise<OlderDelivery[]>;
  /** The same for a delivery, whose options are kept for as long as it is not done. */
  sealDelivery(older: OlderDelivery, notification: string, options: BroughtOptions | null): Promise<void>;
}

export type SealedOptions = ReturnType<typeof createSealedOptions>;

/** There is no organization yet when they are sealed first, so their key is that of the deployment. */
const OWNER = PLATFORM;
const AT_ONCE = 100;

/** What customers chose may hold keys of theirs: it is opened for the archive, and nothing else has it in clear. */
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

  /** Seals some of what older versions wrote in clear; does nothing once all of it was seen. */
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
    if (!older.isRead) return await store.sealDelivery(older, canonicalJson(outlineOf(said)), null);
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
