/** Pieces of an answer as they come, put together. */

const PICTURE_MS = 33;

/** Puts pieces of an answer together, and hands the whole on once per picture. */
export class Pieces {
  /** @param {(text: string) => void} show */
  constructor(show) {
    this.show = show;
    this.text = '';
    this.isWaiting = false;
  }

  /** @param {string} piece */
  add(piece) {
    if (piece === '') return;
    this.text += piece;
    if (this.isWaiting) return;
    this.isWaiting = true;
    setTimeout(() => this.flush(), PICTURE_MS);
  }

  flush() {
    this.isWaiting = false;
    this.show(this.text);
  }
}
