// Stands in for react-devtools-core in the bundles: Ink imports it for developers of React only.
export default { initialize() {}, connectToDevTools() {} };
