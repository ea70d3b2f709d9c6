/** Parser splits a stream of Server-Sent Events into messages. */
export class Parser {
    #rest = '';
    #id = '';
    #event = '';
    #data = [];
    /** push takes the next part of the stream, and returns the messages that it completes. */
    push(text) {
        const messages = [];
        // A carriage return at the end may be the first half of a line's end.
        const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
        this.#rest = lines.pop() ?? '';
        for (const line of lines) {
            const message = this.#line(line);
            if (message)
                messages.push(message);
        }
        return messages;
    }
    #line(line) {
        if (line === '')
            return this.#dispatch();
        const colon = line.indexOf(':');
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        if (field === 'id' && !value.includes('\0'))
            this.#id = value;
        if (field === 'event')
            this.#event = value;
        if (field === 'data')
            this.#data.push(value);
        return undefined;
    }
    #dispatch() {
        const data = this.#data.length > 0 ? this.#data.join('\n') : undefined;
        const message = { event: this.#event || 'message', id: this.#id, data };
        this.#event = '';
        this.#data = [];
        return message;
    }
}
