/** A message of a stream of Server-Sent Events. */
export interface Message {
    /** The type; `message` if the server named none. */
    event: string;
    /** The last id that the server sent; empty if it sent none. */
    id: string;
    /** The data; undefined in a message without data, such as a heartbeat. */
    data: string | undefined;
}
/** Parser splits a stream of Server-Sent Events into messages. */
export declare class Parser {
    #private;
    /** push takes the next part of the stream, and returns the messages that it completes. */
    push(text: string): Message[];
}
