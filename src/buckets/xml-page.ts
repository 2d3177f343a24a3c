import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import sax from 'sax';

/** Where a service writes what we need, as the names of the elements from the root on. */
export interface XmlPaths {
  readonly name: string;
  readonly next: string;
}

export interface XmlPage {
  /** Of the root element. */
  readonly root: string;
  readonly names: readonly string[];
  /** What to ask for the next page with; empty on the last one. */
  readonly next: string;
  /** What the service says if it rejects the request. */
  readonly code: string;
  readonly message: string;
}

/** No page nests deeper than six levels. */
const MAX_DEPTH = 20;

/**
 * Reads a page of names while it arrives, and keeps nothing else of it. Undefined if it is not XML. Entities other than
 * those of XML itself are an error, and a document type is skipped.
 */
export async function readXmlPage(response: IncomingMessage, paths: XmlPaths): Promise<XmlPage | undefined> {
  const decoder = new StringDecoder('utf8');
  const reader = createReader(paths);
  try {
    for await (const chunk of response) reader.write(decoder.write(chunk as Buffer));
    return reader.end(decoder.end());
  } catch (error) {
    if (error instanceof NotXml) return undefined;
    throw error;
  }
}

class NotXml extends Error {}

function createReader(paths: XmlPaths) {
  const parser = sax.parser(true);
  const open: string[] = [];
  const names: string[] = [];
  const found = { root: '', next: '', code: '', message: '' };
  let text = '';
  parser.onopentag = ({ name }) => {
    if (open.length === 0) found.root ||= name;
    if (open.push(name) > MAX_DEPTH) throw new NotXml();
    text = '';
  };
  parser.ontext = (more) => {
    text += more;
  };
  parser.oncdata = parser.ontext;
  parser.onclosetag = () => {
    keep(open.join('/'), text);
    open.pop();
    text = '';
  };
  parser.onerror = () => {
    throw new NotXml();
  };
  return {
    write: (more: string) => void parser.write(more),
    end(rest: string): XmlPage {
      parser.write(rest).close();
      return { ...found, names };
    },
  };

  function keep(path: string, value: string): void {
    if (path === paths.name) names.push(value);
    else if (path === paths.next) found.next = value.trim();
    else if (path === 'Error/Code') found.code = value.trim();
    else if (path === 'Error/Message') found.message = value.trim();
  }
}
