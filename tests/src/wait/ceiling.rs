// The single bound for every wait of every test. It only ends tests that would hang: a machine that is several times
// slower, or shared with other work, must not come near it.
std::time::Duration::from_secs(600)
