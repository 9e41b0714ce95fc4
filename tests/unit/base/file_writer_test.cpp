// Files appear whole or not at all.
#include "base/file_writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "command/run_command.h"

namespace plait {
namespace {

namespace fs = std::filesystem;
using testing::ScratchFolder;

class FileWriterTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  size_t files() const {
    return size_t(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  std::string refusal(const std::string& target) const {
    try {
      write_whole_file(target, std::string(100000, 'x'), "here");
      return "";
    } catch (const UserError& e) {
      EXPECT_EQ(e.where(), "here");
      EXPECT_FALSE(e.remedy().empty());
      return e.message();
    }
  }
  ScratchFolder folder_;
};

TEST_F(FileWriterTest, TheNameComesWithTheLastByte) {
  const std::string file = folder_.file("a", "old");
  {
    FileWriter out(file, "");
    out.write("ne");
    EXPECT_EQ(testing::read_file(file), "old");
    out.write("w");
    out.commit();
  }
  EXPECT_EQ(testing::read_file(file), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileWriterTest, WithoutCommitNothingIsLeft) {
  const std::string file = folder_.file("a", "old");
  { FileWriter(file, "").write("new"); }
  EXPECT_EQ(testing::read_file(file), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileWriterTest, ALinkIsReplacedAndItsTargetStays) {
  const std::string target = folder_.file("target", "kept");
  fs::create_symlink(target, path("link"));
  write_whole_file(path("link"), "new", "");
  EXPECT_EQ(testing::read_file(target), "kept");
  EXPECT_FALSE(fs::is_symlink(path("link")));
  EXPECT_EQ(testing::read_file(path("link")), "new");
}

TEST_F(FileWriterTest, PermissionsStay) {
  const std::string file = folder_.file("a", "old");
  chmod(file.c_str(), 0640);
  write_whole_file(file, "new", "");
  struct stat facts = {};
  ASSERT_EQ(stat(file.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640u);
}

TEST_F(FileWriterTest, DevicesAndOpenFilesAreWrittenInPlace) {
  EXPECT_NE(refusal("/dev/full").find("No space left"), std::string::npos);
  EXPECT_EQ(refusal("/dev/null"), "");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  write_whole_file("/dev/fd/" + std::to_string(ends[1]), "through", "");
  char text[8] = {};
  EXPECT_EQ(read(ends[0], text, sizeof text), 7);
  EXPECT_STREQ(text, "through");
  close(ends[0]);
  close(ends[1]);
}

TEST_F(FileWriterTest, RefusalsSayWhy) {
  EXPECT_NE(refusal(path("no/such")).find("No such file"), std::string::npos);
  EXPECT_NE(refusal(folder_.path().string()).find("directory"), std::string::npos);
  EXPECT_EQ(files(), 0u);
}

TEST_F(FileWriterTest, Streams) {
  EXPECT_TRUE(is_stream("-"));
  EXPECT_TRUE(is_stream("/dev/null"));
  EXPECT_FALSE(is_stream(folder_.file("a", "")));
  EXPECT_FALSE(is_stream(folder_.path().string()));
  EXPECT_FALSE(is_stream(path("no")));
}

}  // namespace
}  // namespace plait
