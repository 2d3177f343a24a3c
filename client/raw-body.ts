/** A body that is sent as it is: JSON whose numbers nobody may touch, or another type. */
export class RawBody {
  readonly text: string;
  readonly type: string;
  constructor(text: string, type = 'application/json') {
    this.text = text;
    this.type = type;
  }
}
