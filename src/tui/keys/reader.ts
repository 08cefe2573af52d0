// Turns terminal input into keys, with the timeout after which a lone ESC is a key.
import { StringDecoder } from "node:string_decoder";
import { type Decoded, type Decoding, decode } from "./decode.ts";

/** Long enough for the rest of a sequence over ssh, too short to notice. */
const ESCAPE_MS = 40;

export class KeyReader {
  readonly #listener: (inputs: readonly Decoded[]) => void;
  readonly #utf8 = new StringDecoder("utf8");
  #decoding: Decoding = { rest: "" };
  #timer: NodeJS.Timeout | undefined;

  constructor(listener: (inputs: readonly Decoded[]) => void) {
    this.#listener = listener;
  }

  push(bytes: Uint8Array): void {
    clearTimeout(this.#timer);
    this.#take(this.#utf8.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)), false);
    if (this.#decoding.rest !== "") this.#timer = setTimeout(() => this.end(), ESCAPE_MS).unref();
  }

  /** Flushes an incomplete sequence as keys. */
  end(): void {
    clearTimeout(this.#timer);
    this.#take("", true);
  }

  #take(text: string, isEnd: boolean): void {
    const { decoding, inputs } = decode(this.#decoding, text, isEnd);
    this.#decoding = decoding;
    if (inputs.length > 0) this.#listener(inputs);
  }
}
