// Reads again what is shown, whenever it is asked to, and never twice at the same time.
//
// What takes long is asked for less often: the pause after a read is at least as long as the read.

export class Reread {
  #read;
  #pause;
  #isBusy = false;
  #isAsked = false;
  #isOver = false;

  // `pause` is the least time between two reads, in milliseconds.
  constructor(read, pause) {
    this.#read = read;
    this.#pause = pause;
  }

  async ask() {
    this.#isAsked = true;
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (this.#isAsked && !this.#isOver) {
      this.#isAsked = false;
      const start = performance.now();
      await this.#read();
      const took = performance.now() - start;
      await new Promise((done) => setTimeout(done, Math.max(this.#pause, took)));
    }
    this.#isBusy = false;
  }

  end() {
    this.#isOver = true;
  }
}
