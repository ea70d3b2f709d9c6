/** eventOf returns an event in the form of this library. */
export function eventOf(data, cursor) {
    return { type: data.metadata.subscriptionType, payload: data.payload, metadata: data.metadata, cursor };
}
