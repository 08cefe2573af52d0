// Stands in for react-devtools-core and ws in the bundles: Ink imports them for developers of React only.
export default { initialize() {}, connectToDevTools() {} };
