/** A body that is sent unchanged: JSON whose numbers must not be altered, or another content type. */
export class RawBody {
  readonly text: string;
  readonly type: string;
  constructor(text: string, type = 'application/json') {
    this.text = text;
    this.type = type;
  }
}
